from __future__ import annotations

import dataclasses
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.servers import LiveServer, canned_server, live_server

import drayman
from drayman import live
from drayman.errors import APIStatusError, DraymanError, UnreachableError
from drayman.kube import blocking
from drayman.kube.blocking import Reader
from drayman.kube.config import ServerConfig
from drayman.kube.resources import CLAIMS, NODES, PODS

SLICE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "s"},
    "spec": {
        "driver": "gpu.example.com",
        "nodeName": "node-1",
        "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "gpu-0"}],
    },
}
CLASS = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "gpu"},
    "spec": {"selectors": [{"cel": {"expression": "true"}}]},
}


def claim(name: str, namespace: str = "team-a") -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}},
    }


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("live")) as running:
        running.apply(SLICE, CLASS, *(claim(f"c{number}") for number in range(5)), claim("other", "team-b"))
        yield running


def test_list_is_read_page_by_page(server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking, "PAGE", 2)
    with Reader(server.config) as reader:
        items, version = reader.list(CLAIMS)
    assert [item["metadata"]["name"] for item in items] == ["c0", "c1", "c2", "c3", "c4", "other"]
    assert {(item["apiVersion"], item["kind"]) for item in items} == {("resource.k8s.io/v1", "ResourceClaim")}
    assert int(version) > 0


def test_list_whose_pages_expire_is_read_at_once() -> None:
    item = {"metadata": {"name": "n"}}
    gone = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
    answers: dict[str, tuple[int, Any]] = {
        "/api/v1/nodes?limit=500": (200, {"items": [item], "metadata": {"continue": "x"}}),
        "/api/v1/nodes?limit=500&continue=x": (410, gone),
        "/api/v1/nodes": (200, {"items": [item, item], "metadata": {"resourceVersion": "7"}}),
    }
    with canned_server(answers) as canned, Reader(ServerConfig(url=canned.url)) as reader:
        items, version = reader.list(NODES)
    assert (len(items), version) == (2, "7")
    assert canned.asked == list(answers)


def test_namespace_and_labels_restrict_a_list(server: LiveServer) -> None:
    with Reader(server.config) as reader:
        assert len(reader.list(CLAIMS, "team-b")[0]) == 1
        assert reader.list(CLAIMS, label_selector="a=b")[0] == []


def test_watch_yields_what_changes_after_the_list(server: LiveServer) -> None:
    with Reader(server.config) as reader:
        _, version = reader.list(PODS, "watched")
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "watched"},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        }
        server.apply(pod)
        event = next(reader.watch(PODS, "watched", resource_version=version))
        assert (event.type, event.object["metadata"]["name"]) == ("ADDED", "p")
        assert len(reader.list(PODS, "watched")[0]) == 1  # the reader is as good as before


def test_wrong_token_is_said_with_what_to_look_at(server: LiveServer) -> None:
    with Reader(dataclasses.replace(server.config, token="wrong")) as reader, pytest.raises(APIStatusError) as caught:
        reader.list(NODES)
    assert str(caught.value) == f"{server.config.url} does not know who you are: Unauthorized"
    assert (caught.value.code, caught.value.hint) == (
        401,
        "the credentials of the kubeconfig are missing, wrong or expired",
    )


@pytest.mark.parametrize(("namespace", "where"), [(None, "--all-namespaces"), ("team-a", "-n team-a")])
def test_missing_right_is_named(namespace: str | None, where: str) -> None:
    message = 'resourceclaims.resource.k8s.io is forbidden: User "u" cannot list resource "resourceclaims"'
    status = {"kind": "Status", "code": 403, "reason": "Forbidden", "message": message}
    with (
        canned_server({CLAIMS.path(namespace=namespace): (403, status)}) as canned,
        Reader(ServerConfig(url=canned.url)) as reader,
        pytest.raises(APIStatusError) as caught,
    ):
        reader.list(CLAIMS, namespace)
    assert str(caught.value) == f"{canned.url} refuses: {message}"
    name = "resourceclaims.resource.k8s.io"
    assert caught.value.hint == f"the right to `list` {name} is missing: kubectl auth can-i list {name} {where}"


def test_certificate_of_another_is_not_trusted(server: LiveServer) -> None:
    with Reader(dataclasses.replace(server.config, ca_data=None)) as reader, pytest.raises(UnreachableError) as caught:
        reader.list(NODES)
    assert str(caught.value) == (f"{server.config.url}: the certificate is not trusted: self-signed certificate")
    assert caught.value.hint == "see `certificate-authority-data` and `tls-server-name` of the kubeconfig's cluster"


def test_certificate_is_checked_for_the_name_that_is_given(server: LiveServer) -> None:
    with (
        Reader(dataclasses.replace(server.config, server_name="other.example")) as reader,
        pytest.raises(UnreachableError) as caught,
    ):
        reader.list(NODES)
    assert "certificate is not valid for 'other.example'" in str(caught.value)
    with Reader(dataclasses.replace(server.config, server_name="other.example", insecure=True)) as reader:
        assert reader.list(NODES)[0] == []


def test_server_that_is_not_there_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with Reader(ServerConfig(url=url)) as reader, pytest.raises(UnreachableError) as caught:
            reader.list(NODES)
    assert str(caught.value) == f"{url} cannot be reached: connection refused"


def test_server_that_speaks_no_tls_is_said_to() -> None:
    with canned_server({}) as canned:
        url = canned.url.replace("http:", "https:")
        with Reader(ServerConfig(url=url)) as reader, pytest.raises(UnreachableError) as caught:
            reader.list(NODES)
    assert str(caught.value).startswith(f"{url}: no TLS: ")


def test_page_of_a_proxy_is_no_api_server() -> None:
    with (
        canned_server({"/api/v1/nodes": (200, "<html>")}) as canned,
        Reader(ServerConfig(url=canned.url)) as reader,
        pytest.raises(UnreachableError) as caught,
    ):
        reader.list(NODES)
    assert str(caught.value) == f"{canned.url} is no API server: /api/v1/nodes is not a JSON object"


def test_proxy_of_the_kubeconfig_is_asked_for_a_tunnel() -> None:
    with (
        canned_server({}) as proxy,
        Reader(ServerConfig(url="https://api.example:6443", proxy=proxy.url)) as reader,
        pytest.raises(UnreachableError) as caught,
    ):
        reader.list(NODES)
    assert str(caught.value).startswith("https://api.example:6443 cannot be reached: tunnel connection failed: 501 ")


def test_password_is_sent() -> None:
    with canned_server({"/api/v1/nodes": (200, {"items": []})}) as canned:
        with Reader(ServerConfig(url=canned.url, password=("u", "p"))) as reader:
            reader.list(NODES)
        assert canned.headers[0]["authorization"] == "Basic dTpw"


def test_objects_come_in_v1_from_the_newest_version_that_has_their_kind() -> None:
    old = {
        "metadata": {"name": "c", "namespace": "n"},
        "spec": {"devices": {"requests": [{"name": "gpu", "deviceClassName": "gpu"}]}},
    }
    group = "/apis/resource.k8s.io"
    listed = {"kind": "ResourceClaim", "name": "resourceclaims", "namespaced": True}
    newer = {"kind": "DeviceClass", "name": "deviceclasses", "namespaced": False}
    answers: dict[str, tuple[int, Any]] = {
        "/apis": (
            200,
            {"groups": [{"name": "resource.k8s.io", "versions": [{"version": "v1beta1"}, {"version": "v1beta2"}]}]},
        ),
        f"{group}/v1beta1": (200, {"resources": [listed, newer, {**listed, "name": "resourceclaims/status"}]}),
        f"{group}/v1beta2": (200, {"resources": [newer]}),
        f"{group}/v1beta1/resourceclaims": (200, {"items": [old]}),
        f"{group}/v1beta2/deviceclasses": (200, {"items": []}),
    }
    with canned_server(answers) as canned, live.Live(Reader(ServerConfig(url=canned.url))) as cluster:
        snapshot = cluster.load({"ResourceClaim", "DeviceClass", "ResourceSlice"})
    (found,) = snapshot.objects
    assert found["apiVersion"] == "resource.k8s.io/v1"
    assert found["spec"]["devices"]["requests"] == [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]
    assert snapshot.skipped == ("resourceslices: not served in v1, v1beta2, v1beta1",)


def test_server_without_the_group_is_refused_with_what_it_has() -> None:
    groups = [{"name": "resource.k8s.io", "versions": [{"version": "v1alpha3"}]}]
    with (
        canned_server({"/apis": (200, {"groups": groups})}) as canned,
        live.Live(Reader(ServerConfig(url=canned.url))) as cluster,
        pytest.raises(DraymanError) as caught,
    ):
        cluster.load()
    assert str(caught.value) == (
        f"{canned.url} does not serve resource.k8s.io in v1, v1beta2, v1beta1; it serves: v1alpha3"
    )


def test_owners_that_may_not_be_read_are_skipped_and_named(server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Reader.list

    def refuse(reader: Reader, resource: Any, *rest: Any, **more: Any) -> Any:
        if resource.plural in ("jobs", refused):
            raise APIStatusError({"code": 403, "message": "no"})
        return whole(reader, resource, *rest, **more)

    refused = ""
    monkeypatch.setattr(Reader, "list", refuse)
    snapshot = live.load(server.kubeconfig)
    assert {obj["kind"] for obj in snapshot.objects} >= {"ResourceSlice", "DeviceClass", "ResourceClaim", "Namespace"}
    assert (snapshot.skipped, snapshot.namespace) == (("jobs: no",), "team-a")
    refused = "nodes"
    with pytest.raises(APIStatusError):
        live.load(server.kubeconfig)


def test_cluster_is_built_from_a_live_one(server: LiveServer, tmp_path: Path) -> None:
    cluster = drayman.Cluster.from_kubeconfig(server.kubeconfig)
    outcome = cluster.allocate("team-a/c0")
    assert isinstance(outcome, drayman.Allocated)
    assert outcome.node == "node-1"
