"""The scheduler's picture of the nodes."""

from __future__ import annotations

from typing import Any

from drayman.scheduler.cache import Cache


def node(name: str, cpu: str = "4") -> dict[str, Any]:
    return {"metadata": {"name": name}, "status": {"allocatable": {"cpu": cpu}}}


def pod(name: str, node_name: str | None = None, cpu: str = "1") -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": spec | ({"nodeName": node_name} if node_name else {}),
    }


def requested(cache: Cache, name: str) -> int:
    info = cache.get(name)
    assert info is not None
    return info.requested.get("cpu", 0)


def test_nodes_are_in_order_of_their_names() -> None:
    cache = Cache()
    for name in ("n2", "n10", "n1"):
        cache.set_node(node(name))
    cache.remove_node("n10")
    assert [info.name for info in cache.nodes()] == ["n1", "n2"]


def test_assumed_pod_counts_until_it_is_forgotten() -> None:
    cache = Cache()
    cache.set_node(node("n1"))
    cache.assume(pod("p"), "n1")
    assert cache.is_assumed("p")
    assert requested(cache, "n1") == 1000

    cache.forget("p")
    assert not cache.is_assumed("p")
    assert requested(cache, "n1") == 0


def test_assumed_pod_that_turned_out_to_be_bound_is_not_forgotten() -> None:
    cache = Cache()
    cache.set_node(node("n1"))
    cache.set_node(node("n2"))
    cache.assume(pod("p"), "n1")
    cache.set_pod(pod("p", "n2"))
    cache.forget("p")
    assert (requested(cache, "n1"), requested(cache, "n2")) == (0, 1000)


def test_pod_that_is_bound_to_a_node_before_it_is_known_counts_later() -> None:
    cache = Cache()
    cache.set_pod(pod("p", "n1"))
    cache.set_node(node("n1"))
    assert requested(cache, "n1") == 1000


def test_changed_node_keeps_its_pods() -> None:
    cache = Cache()
    cache.set_node(node("n1"))
    cache.set_pod(pod("p", "n1"))
    cache.set_node(node("n1", cpu="8"))
    info = cache.get("n1")
    assert info is not None
    assert (info.allocatable["cpu"], info.requested["cpu"]) == (8000, 1000)
