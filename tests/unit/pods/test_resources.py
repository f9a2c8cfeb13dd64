"""What pods ask for in total."""

from __future__ import annotations

from typing import Any

import pytest

from drayman.pods.resources import amount, pod_requests, scoring_requests

MEBI = 1024 * 1024


def container(cpu: str = "0", memory: str = "0", **fields: Any) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": {"cpu": cpu, "memory": memory}}, **fields}


def pod(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": spec}


@pytest.mark.parametrize(
    ("name", "quantity", "expected"),
    [("cpu", "1", 1000), ("cpu", "1500m", 1500), ("cpu", "0.0001", 1), ("memory", "1Ki", 1024), ("pods", "110", 110)],
)
def test_amounts_are_counted_in_small_units_and_rounded_up(name: str, quantity: str, expected: int) -> None:
    assert amount(name, quantity) == expected


def test_containers_add_up() -> None:
    assert pod_requests(pod(containers=[container("1", "1Mi"), container("500m")])) == {"cpu": 1500, "memory": MEBI}


def test_ordinary_init_containers_count_where_they_need_more() -> None:
    spec = pod(containers=[container("1", "4Mi")], initContainers=[container("2", "1Mi"), container("1", "2Mi")])
    assert pod_requests(spec) == {"cpu": 2000, "memory": 4 * MEBI}


def test_sidecars_add_to_containers_and_to_later_init_containers() -> None:
    sidecar = container("1", restartPolicy="Always")
    spec = pod(containers=[container("1")], initContainers=[container("1"), sidecar, container("2")])
    assert pod_requests(spec)["cpu"] == 3000


def test_overhead_comes_on_top() -> None:
    assert pod_requests(pod(containers=[container("1")], overhead={"cpu": "250m"}))["cpu"] == 1250


def test_requests_of_the_pod_replace_the_sum() -> None:
    spec = pod(containers=[container("1", "1Mi")], resources={"requests": {"cpu": "3"}})
    assert pod_requests(spec) == {"cpu": 3000, "memory": MEBI}


def test_scoring_takes_no_container_for_free() -> None:
    assert scoring_requests(pod(containers=[{"name": "a"}, {"name": "b"}])) == {"cpu": 200, "memory": 400 * MEBI}
