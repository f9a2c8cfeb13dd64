"""PrioritySort: higher priority first, then who has waited longer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drayman.framework import Handle, QueuedPod


class PrioritySort:
    """Orders the ready pods."""

    name = "PrioritySort"

    def __init__(self, _arguments: Mapping[str, Any], _handle: Handle) -> None:
        pass

    def sort_key(self, pod: QueuedPod) -> tuple[float, ...]:
        """Return what pods are sorted by."""
        return (-pod.info.priority, pod.timestamp)
