"""Extended resources that classes serve: which class, and what a pod asks of it."""

from __future__ import annotations

from typing import Any

from drayman.pods.extended_resources import asked_for, classes_by_resource, device_requests

GPU, NIC = "example.com/gpu", "example.com/nic"
CLASSES = {GPU: "gpu", NIC: "nic"}


def device_class(name: str, resource: str = GPU, created: str = "2026-01-01T00:00:00Z") -> dict[str, Any]:
    return {"metadata": {"name": name, "creationTimestamp": created}, "spec": {"extendedResourceName": resource}}


def container(restart: str | None = None, **amounts: str | int) -> dict[str, Any]:
    names = {"gpu": GPU, "nic": NIC, "cpu": "cpu"}
    requests = {names[name]: str(amount) for name, amount in amounts.items()}
    return {"resources": {"requests": requests}, **({"restartPolicy": restart} if restart else {})}


def counts(*containers: dict[str, Any], init: list[dict[str, Any]] | None = None) -> dict[str, tuple[str, int]]:
    pod = {"spec": {"containers": list(containers), "initContainers": init or []}}
    return {
        request["name"]: (request["exactly"]["deviceClassName"], request["exactly"]["count"])
        for request in device_requests(pod, CLASSES, asked_for(pod, CLASSES))
    }


def test_class_has_its_own_name_and_the_one_that_it_declares() -> None:
    assert classes_by_resource([device_class("gpu")]) == {
        "deviceclass.resource.kubernetes.io/gpu": "gpu",
        GPU: "gpu",
    }


def test_of_two_classes_the_newer_one_counts_then_the_first_by_name() -> None:
    older, newer = device_class("a"), device_class("b", created="2026-01-02T00:00:00Z")
    assert classes_by_resource([newer, older])[GPU] == "b"
    assert classes_by_resource([device_class("b"), device_class("a")])[GPU] == "a"


def test_containers_add_up_and_are_named_by_their_place() -> None:
    assert counts(container(cpu=1, gpu=2), container(cpu=1), container(gpu=1, nic=1)) == {
        "container-0-request-1": ("gpu", 2),
        "container-2-request-0": ("gpu", 1),
        "container-2-request-1": ("nic", 1),
    }


def test_init_container_uses_what_the_pod_has_anyway() -> None:
    assert counts(container(gpu=2), init=[container(gpu=2)]) == {"container-1-request-0": ("gpu", 2)}


def test_only_the_largest_excess_of_init_containers_is_asked_for() -> None:
    assert counts(container(gpu=2), init=[container(gpu=3), container(gpu=5)]) == {
        "container-1-request-0": ("gpu", 3),
        "container-2-request-0": ("gpu", 2),
    }


def test_init_container_does_not_use_what_a_sidecar_before_it_has() -> None:
    assert counts(container(), init=[container("Always", gpu=1), container(gpu=1)]) == {
        "container-0-request-0": ("gpu", 1),
        "container-1-request-0": ("gpu", 1),
    }


def test_nothing_is_asked_for_where_no_class_serves_it_or_the_amount_is_zero() -> None:
    pod = {"spec": {"containers": [container(gpu=0), container(cpu=1)]}}
    assert asked_for(pod, CLASSES) == frozenset()
