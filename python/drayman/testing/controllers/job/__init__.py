"""Jobs: pods are started until enough have succeeded or too many have failed (upstream: `pkg/controller/job`)."""

from drayman.testing.controllers.job.controller import JobController

__all__ = ["JobController"]
