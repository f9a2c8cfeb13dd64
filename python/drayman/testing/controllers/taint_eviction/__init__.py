"""Evicts pods from tainted devices (upstream: `pkg/controller/devicetainteviction`)."""

from drayman.testing.controllers.taint_eviction.controller import TaintEvictionController

__all__ = ["TaintEvictionController"]
