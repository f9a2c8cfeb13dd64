"""A kind cluster is started step by step, with these commands and files, and leaves nothing when it ends."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
import yaml
from tests.unit.clusters.kind.machine import control_plane

import drayman
from drayman.testing.clusters import kind, registry
from drayman.testing.parts import Options

if TYPE_CHECKING:
    from tests.unit.clusters.kind.machine import Machine

OPTIONS = Options(nodes=2)
DRIVER, SCHEDULER = (f"docker.io/drayman/{part}:{drayman.__version__}" for part in ("driver", "scheduler"))
TESTBOX = "docker.io/drayman/testbox:1"


async def boot(options: Options = OPTIONS, *, keep: bool = False) -> None:
    with registry.reserved("test"):
        async with kind.running(options, kind.Setup("test", keep=keep)):
            pass


async def test_cluster_is_started_step_by_step(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OURS", "true")
    async with control_plane(machine):
        await boot()

    folder = registry.folder("test")
    namespace = "--namespace drayman-system --create-namespace"
    said = [re.sub(r"\S*/(charts/)", r"\1", call.replace(str(folder), "FOLDER")) for call in machine.calls()]
    workers = "drayman-test-worker,drayman-test-worker2"
    node = "docker.io/drayman/node:v1.37.2"
    listed = "docker ps --all --filter label=io.x-k8s.kind.cluster=drayman-test --format {{.Names}}"
    assert [call for call in said if not call.startswith(("docker exec", "ip route"))] == [
        "docker info --format {{json .}}",
        *sorted(["kind --version", "helm version --short"], key=said.index),
        listed,
        f"docker image inspect --format {{{{.Id}}}} {node}",
        f'docker image inspect --format {{{{index .Config.Labels "io.drayman.node"}}}} {node}',
        f"docker run --rm --privileged --network none --entrypoint sh {node} -ec"
        " cat /kind/version; echo; containerd --version",
        f"docker image inspect --format {{{{.Id}}}} {DRIVER}",
        f"docker image inspect --format {{{{.Id}}}} {SCHEDULER}",
        "kind create cluster --name drayman-test"
        " --config FOLDER/kind.yaml --kubeconfig FOLDER/kind.kubeconfig --retain",
        f"kind load docker-image --name drayman-test --nodes {workers} {DRIVER} {SCHEDULER} {TESTBOX}",
        f"helm upgrade --install drayman-driver charts/drayman-driver {namespace}"
        " --kubeconfig FOLDER/kind.kubeconfig --values FOLDER/drayman-driver-values.json",
        f"helm upgrade --install drayman-scheduler charts/drayman-scheduler {namespace}"
        " --kubeconfig FOLDER/kind.kubeconfig --values FOLDER/drayman-scheduler-values.json",
        listed,
        "docker rm --force --volumes drayman-test-control-plane drayman-test-worker drayman-test-worker2",
        listed,
    ]
    assert machine.left() == []


async def test_nodes_of_ours_get_a_plugin_and_routes_to_each_other(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS", "true")
    async with control_plane(machine):
        await boot()

    script = machine.text("calls").partition("docker exec --interactive drayman-test-worker sh -ec ")[2]
    write, *routes = script.partition("\ndocker ")[0].splitlines()
    assert write == (
        "mkdir -p /etc/cni/net.d && cat > /etc/cni/net.d/10-drayman.conflist.new"
        " && mv /etc/cni/net.d/10-drayman.conflist.new /etc/cni/net.d/10-drayman.conflist"
    )
    assert routes == [
        "ip route replace 10.244.0.0/24 via 172.18.0.2",
        "ip route replace 10.244.2.0/24 via 172.18.0.4",
    ]
    plugin, ports = json.loads(machine.text("stdin-drayman-test-worker"))["plugins"]
    assert (plugin["type"], plugin["ipam"]["ranges"]) == ("ptp", [[{"subnet": "10.244.1.0/24"}]])
    assert ports["type"] == "portmap"


async def test_public_image_brings_its_network_and_gets_the_testbox(machine: Machine) -> None:
    machine.say("docker-image", 'case "$*" in *drayman/node*) exit 1;; esac')
    async with control_plane(machine):
        await boot()

    (created,) = machine.calls("docker run")
    assert re.search(r" kindest/node:v1\.37\.\d+@sha256:[0-9a-f]{64} ", created)
    assert f"docker image inspect --format {{{{.Id}}}} {TESTBOX}" in machine.calls()
    assert machine.calls("docker exec --interactive") == []
    assert "disableDefaultCNI" not in machine.text("config")


async def test_image_that_nodes_have_is_not_loaded_again(machine: Machine) -> None:
    machine.say("docker-exec", f'case "$*" in *images*) echo {TESTBOX}; echo {DRIVER};; esac')
    async with control_plane(machine):
        await boot()

    (loaded,) = machine.calls("kind load")
    assert loaded.endswith(f"worker2 {SCHEDULER}")


async def test_releases_get_what_was_chosen(machine: Machine) -> None:
    machine.say("docker-run", "printf 'v1.34.11\\ncontainerd github.com/containerd/containerd/v2 v2.1.4 x\\n'")
    gates = {"DRAAdminAccess": True}
    options = Options(nodes=2, kubernetes_version="1.34", compatibility="1.37", devices=3, feature_gates=gates)
    async with control_plane(machine):
        await boot(options)

    image = {"tag": drayman.__version__, "pullPolicy": "Never"}
    assert json.loads(machine.text("values-drayman-driver")) == {
        "image": image,
        "driverName": "gpu.example.com",
        "devices": 3,
        "nodeSelector": {"drayman.internal/devices": "mock"},
    }
    chosen = json.loads(machine.text("values-drayman-scheduler"))
    assert (chosen["image"], chosen["compatibility"], chosen["kubernetesVersion"]) == (image, "1.37", "1.34")
    assert chosen["featureGates"] == yaml.safe_load(machine.text("config"))["featureGates"]
    assert chosen["featureGates"]["DRAAdminAccess"]


async def test_without_a_scheduler_of_ours_only_the_driver_is_installed(machine: Machine) -> None:
    async with control_plane(machine):
        await boot(Options(nodes=2, scheduler=False))

    assert [call.split()[3] for call in machine.calls("helm upgrade")] == ["drayman-driver"]
    assert SCHEDULER not in machine.text("calls")


async def test_kept_cluster_stays_and_is_removed_by_name(machine: Machine) -> None:
    async with control_plane(machine):
        await boot(keep=True)

    assert machine.containers
    assert (registry.noted("test") or {}).get("cluster") == "drayman-test"
    await kind.remove("test")
    assert not machine.containers
    registry.forget("test")
    assert machine.left() == []


async def test_docker_that_was_unpacked_is_found_by_us_and_by_kind(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpacked = machine.folder / "cache" / "debian" / "docker" / "usr" / "bin"
    unpacked.mkdir(parents=True)
    (machine.programs / "docker").rename(unpacked / "docker")
    machine.hide_others(monkeypatch)
    machine.say("kind-load", "docker found by kind")
    async with control_plane(machine):
        await boot()
    assert "docker found by kind" in machine.calls()
