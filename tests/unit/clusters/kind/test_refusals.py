"""What stands in the way is said in one message, before anything is started."""

from __future__ import annotations

import pytest
from tests.unit.clusters.kind.machine import Machine
from tests.unit.clusters.kind.test_boot import DRIVER, OPTIONS, SCHEDULER, TESTBOX, boot

from drayman.errors import InputError
from drayman.testing.clusters import kind, registry
from drayman.testing.parts import Options

START = 'start Docker; where there is none, `eval "$(hack/kind/dockerd start)"` starts a private one'
RIGHTS = (
    "use a daemon that can (not rootless, not in a container that lacks rights); "
    '`eval "$(hack/kind/dockerd start)"` starts one whose containers do without what this machine lacks'
)
PUBLIC = "kindest/node:v1.37"
NODE = "docker.io/drayman/node:v1.37.2"


async def refusal(machine: Machine, options: Options = OPTIONS) -> tuple[str, str | None]:
    """Return message and hint of a start that fails before anything was started."""
    with pytest.raises(InputError) as caught:
        await boot(options)
    assert machine.calls("kind create") == []
    assert machine.left() == []
    return str(caught.value), caught.value.hint


async def test_no_docker(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine.programs / "docker").unlink()
    machine.hide_others(monkeypatch)
    assert await refusal(machine) == ("`docker` is not on the PATH, and kind's nodes are its containers", START)


async def test_no_kind_and_no_helm(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("kind", "helm"):
        (machine.programs / name).unlink()
    machine.hide_others(monkeypatch)
    message, hint = await refusal(machine)
    assert message.startswith("not found: `kind`, `helm`; looked in ")
    assert hint is not None
    assert hint.startswith("hack/controlplane/build builds what is missing")


async def test_kind_that_is_too_old(machine: Machine) -> None:
    machine.say("kind---version", "echo kind version 0.20.0")
    message, _ = await refusal(machine)
    assert message == f"`{machine.programs}/kind` is version 0.20.0, where v0.31 or newer is wanted"


@pytest.mark.parametrize(
    ("script", "message", "hint"),
    [
        (
            "echo 'Cannot connect to the Docker daemon at unix:///x' >&2; exit 1",
            "no Docker daemon answers:\nCannot connect to the Docker daemon at unix:///x",
            START,
        ),
        (
            """echo '{"ServerErrors": ["Cannot connect to the Docker daemon"]}'""",
            "no Docker daemon answers:\nCannot connect to the Docker daemon",
            START,
        ),
        (
            "echo 'permission denied while trying to connect to the Docker daemon socket' >&2; exit 1",
            "the Docker daemon does not let you in:\npermission denied while trying to connect to the Docker daemon"
            " socket",
            "be root, or in the group `docker`",
        ),
    ],
)
async def test_daemon_that_does_not_answer(machine: Machine, script: str, message: str, hint: str) -> None:
    machine.say("docker-info", script)
    assert await refusal(machine) == (message, hint)


async def test_daemon_that_cannot_run_privileged_containers(machine: Machine) -> None:
    machine.say("docker-run", "echo 'OCI runtime create failed: unable to apply caps' >&2; exit 125")
    message = (
        "the Docker daemon cannot run privileged containers, which kind's nodes are:\n"
        "OCI runtime create failed: unable to apply caps"
    )
    assert await refusal(machine) == (message, RIGHTS)


async def test_image_that_makes_no_nodes(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAYMAN_KIND_IMAGE", "busybox")
    machine.say("docker-run", "echo \"cat: can't open '/kind/version': No such file\" >&2; exit 1")
    message, _ = await refusal(machine)
    assert message == "the image `busybox` is no node image of kind: it has no `/kind/version`"


async def test_image_of_another_kubernetes(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAYMAN_KIND_IMAGE", "mine:1")
    machine.say("docker-run", "printf 'v1.36.4\\ncontainerd x v2.1.4 y\\n'")
    assert await refusal(machine) == (
        "the node image `mine:1` has Kubernetes 1.36.4, not 1.37",
        "--kubernetes-version 1.36, or another DRAYMAN_KIND_IMAGE",
    )


@pytest.mark.parametrize(
    ("version", "hint"),
    [
        ("1.37", "hack/kind/node-image makes one here, DRAYMAN_KIND_IMAGE=IMAGE names another"),
        ("1.36", "DRAYMAN_KIND_IMAGE=IMAGE names another"),
    ],
)
async def test_node_image_that_cannot_be_pulled(machine: Machine, version: str, hint: str) -> None:
    machine.say("docker-image", "exit 1")
    machine.say("docker-pull", "echo 'dial tcp: lookup registry-1.docker.io: no such host' >&2; exit 1")
    message, said = await refusal(machine, Options(nodes=2, kubernetes_version=version))
    assert message.startswith(f"the node image `kindest/node:v{version}.")
    assert message.endswith(
        "` is not there, and cannot be pulled:\ndial tcp: lookup registry-1.docker.io: no such host"
    )
    assert said == hint


async def test_images_that_are_missing_are_named_together(machine: Machine) -> None:
    machine.say("docker-image", 'case "$*" in *kindest*) ;; *) exit 1;; esac')
    message, hint = await refusal(machine)
    assert message == f"images are missing: `{DRIVER}`, `{SCHEDULER}`, `{TESTBOX}`"
    assert hint == "hack/kind/images builds them"


async def test_cluster_of_someone_else_is_left_alone(machine: Machine) -> None:
    (machine.folder / "containers").write_text("drayman-test-control-plane\n")
    message, hint = await refusal(machine)
    assert message == "a kind cluster `drayman-test` is there that this user has not started with drayman"
    assert hint == "choose another name, or end that one: kind delete cluster --name drayman-test"
    assert machine.containers


async def test_name_that_makes_names_of_nodes_too_long(machine: Machine) -> None:
    name = "a" * 42
    with pytest.raises(InputError) as caught:
        async with kind.running(OPTIONS, kind.Setup(name)):
            pass
    assert str(caught.value) == f"`{name}`: the name of a kind cluster has 41 characters at most"
    assert machine.calls() == []


async def test_disk_that_is_full(machine: Machine) -> None:
    machine.say("docker-pull", "echo 'write /var/lib/docker/x: no space left on device' >&2; exit 1")
    machine.say("docker-image", "exit 1")
    assert await refusal(machine) == (
        "`docker pull` found a disk full:\nwrite /var/lib/docker/x: no space left on device",
        "docker system df says what Docker keeps there",
    )


async def test_killed_cluster_that_cannot_be_removed_now_is_remembered(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    registry.note("old", {"backend": "kind", "cluster": "drayman-old", "DOCKER_HOST": "unix:///gone"})
    machine.say("docker-info", """[ -z "$DOCKER_HOST" ] || { echo gone >&2; exit 1; }; echo '{"CgroupVersion": "2"}'""")
    machine.say("docker-image", "exit 1")
    machine.say("docker-pull", "exit 1")
    with pytest.raises(InputError):
        await boot()
    assert registry.left_behind("kind") == ["old"]
    assert "cluster `old` cannot be removed: no Docker daemon answers:\ngone" in caplog.text
