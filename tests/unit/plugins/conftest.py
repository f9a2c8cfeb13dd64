"""Short ways to pods and nodes."""

from __future__ import annotations

from typing import Any, cast

import pytest

from drayman.framework import CycleState, Handle, NodeInfo, PodInfo
from drayman.scheduler.cache import Cache


class FakeHandle:
    """As much of a handle as the plugins without claims use: the nodes."""

    def __init__(self) -> None:
        self.snapshot = Cache()
        self.api = None


@pytest.fixture
def handle() -> Handle:
    return cast("Handle", FakeHandle())


@pytest.fixture
def state() -> CycleState:
    return CycleState()


def pod(name: str = "p", *, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "uid": name, "labels": labels or {}}
    return {"metadata": metadata, "spec": {"containers": [{"name": "main"}], **spec}}


def node(name: str = "n1", *pods: dict[str, Any], labels: dict[str, str] | None = None, **spec: Any) -> NodeInfo:
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    info = NodeInfo(
        {"metadata": {"name": name, "labels": labels or {}}, "spec": spec, "status": {"allocatable": allocatable}}
    )
    for each in pods:
        info.add_pod(PodInfo(each))
    return info


@pytest.fixture(name="pod")
def _pod() -> Any:
    return pod


@pytest.fixture(name="node")
def _node() -> Any:
    return node
