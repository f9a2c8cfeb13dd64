"""Scheduler and driver as Kubernetes objects: helm charts, plain manifests, and the roles of both wherever they run."""

from __future__ import annotations

from drayman.manifests.driver import Driver
from drayman.manifests.release import NAMESPACE, Object, Release, role
from drayman.manifests.scheduler import Scheduler
from drayman.manifests.text import documents

__all__ = ["NAMESPACE", "Driver", "Object", "Release", "Scheduler", "documents", "role"]
