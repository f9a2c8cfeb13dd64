"""The backend `existing`: a cluster that is there and that others use, too, reached with a kubeconfig."""

from drayman.testing.clusters.existing.cluster import planned, remove, remove_left, running
from drayman.testing.clusters.existing.request import DRIVER_IMAGE, Request
from drayman.testing.clusters.existing.run import Run

__all__ = ["DRIVER_IMAGE", "Request", "Run", "planned", "remove", "remove_left", "running"]
