"""Times as Kubernetes writes them, apart from the clock: that brings asyncio, which reading manifests does not need."""

from __future__ import annotations

import datetime as dt


def rfc3339(moment: dt.datetime) -> str:
    """Return `moment` as Kubernetes prints `metav1.Time`: UTC, whole seconds."""
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def rfc3339_micro(moment: dt.datetime) -> str:
    """Return `moment` as Kubernetes prints `metav1.MicroTime`."""
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_rfc3339(text: str) -> dt.datetime:
    """Read a Kubernetes time. Raises `ValueError` when `text` is not one."""
    moment = dt.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"time `{text}` has no zone")
    return moment
