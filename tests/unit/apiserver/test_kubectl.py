"""Real kubectl against the server on a socket."""

from __future__ import annotations

import asyncio
import base64
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from drayman.clock import RealClock
from drayman.manifests import Driver, Release, Scheduler, documents
from drayman.testing.apiserver import APIServer
from drayman.testing.apiserver.certificates import self_signed
from drayman.testing.apiserver.sockets import serve

_KUBECTL = shutil.which("kubectl")
pytestmark = pytest.mark.skipif(_KUBECTL is None, reason="kubectl is not installed")

_MANIFEST = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {app: a}}
spec:
  resourceClaims: [{name: gpu, resourceClaimName: shared}]
  containers:
  - {name: main, image: "docker.io/drayman/testbox:1", resources: {claims: [{name: gpu}]}}
"""

_LIST = """
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
"""


@dataclass
class Kubectl:
    config: Path

    async def __call__(self, *arguments: str, stdin: str = "", fails: bool = False) -> str:
        process = await self.start(*arguments)
        out, _ = await process.communicate(stdin.encode())
        assert (process.returncode != 0) is fails, out.decode()
        return out.decode()

    async def start(self, *arguments: str) -> asyncio.subprocess.Process:
        assert _KUBECTL is not None
        environment = {"KUBECONFIG": str(self.config), "HOME": str(self.config.parent), "PATH": "/usr/bin:/bin"}
        return await asyncio.create_subprocess_exec(
            _KUBECTL,
            *arguments,
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )


@pytest.fixture
async def kubectl(tmp_path: Path) -> AsyncIterator[Kubectl]:
    clock = RealClock()
    certificate = self_signed("127.0.0.1", clock.now())
    async with serve(APIServer(clock=clock), token="secret", certificate=certificate) as url:
        authority = base64.b64encode(certificate.certificate).decode()
        config = tmp_path / "kubeconfig"
        config.write_text(
            "{apiVersion: v1, kind: Config, current-context: c,"
            f" clusters: [{{name: c, cluster: {{server: '{url}', certificate-authority-data: {authority}}}}}],"
            " users: [{name: u, user: {token: secret}}],"
            " contexts: [{name: c, context: {cluster: c, user: u}}]}"
        )
        yield Kubectl(config)


def columns(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


async def test_apply_get_describe_delete(kubectl: Kubectl) -> None:
    assert await kubectl("apply", "-f", "-", stdin=_MANIFEST) == (
        "resourceclaim.resource.k8s.io/shared created\npod/p created\n"
    )
    assert columns(await kubectl("get", "pods,resourceclaims", "--no-headers"))[0][:4] == [
        "pod/p",
        "0/1",
        "Pending",
        "0",
    ]
    assert columns(await kubectl("get", "resourceclaims"))[0] == ["NAME", "STATE", "AGE"]
    assert columns(await kubectl("get", "resourceclaims", "-A", "--no-headers"))[0][:3] == [
        "default",
        "shared",
        "pending",
    ]
    assert await kubectl("get", "pods", "-l", "app=a", "-o", "name") == "pod/p\n"
    assert await kubectl("get", "pods", "--field-selector", "spec.nodeName=x", "-o", "name") == ""
    assert await kubectl("get", "pod", "p", "-o", "jsonpath={.spec.resourceClaims[0].resourceClaimName}") == "shared"
    assert "resourceClaimName: shared" in await kubectl("get", "pod", "p", "-o", "yaml")
    assert "shared" in await kubectl("describe", "resourceclaim", "shared")
    assert "Pending" in await kubectl("describe", "pod", "p")
    assert await kubectl("delete", "-f", "-", stdin=_MANIFEST) == (
        'resourceclaim.resource.k8s.io "shared" deleted\npod "p" deleted\n'
    )
    assert await kubectl("get", "pods") == "No resources found in default namespace.\n"


async def test_apply_again_changes_what_differs(kubectl: Kubectl) -> None:
    await kubectl("apply", "-f", "-", stdin=_MANIFEST)

    again = await kubectl("apply", "-f", "-", stdin=_MANIFEST.replace("app: a", "app: b"))

    assert again.splitlines()[-1] == "pod/p configured"
    assert await kubectl("get", "pod", "p", "-o", "jsonpath={.metadata.labels.app}") == "b"


async def test_lists_are_applied(kubectl: Kubectl) -> None:
    applied = await kubectl("apply", "-f", "-", stdin=_LIST)

    assert applied == "configmap/a created\nconfigmap/b created\n"


@pytest.mark.parametrize("release", [Scheduler(replicas=2), Driver()], ids=lambda release: release.chart)
async def test_our_manifests_are_applied(kubectl: Kubectl, release: Release) -> None:
    text = documents(release.objects())
    applied = await kubectl("apply", "-f", "-", stdin=text)

    assert [line.rpartition(" ")[2] for line in applied.splitlines()] == ["created"] * len(release.objects())
    again = await kubectl("apply", "-f", "-", stdin=text)
    # kubectl always replaces the selector of a PodDisruptionBudget.
    changed = [line for line in again.splitlines() if not line.startswith("poddisruptionbudget")]
    assert {line.rpartition(" ")[2] for line in changed} == {"unchanged"}


async def test_server_side_apply(kubectl: Kubectl) -> None:
    first = await kubectl("apply", "--server-side", "-f", "-", stdin=_MANIFEST)
    second = await kubectl("apply", "--server-side", "-f", "-", stdin=_MANIFEST)

    assert first == second
    assert "pod/p serverside-applied\n" in first


async def test_label_annotate_patch_and_wait(kubectl: Kubectl) -> None:
    await kubectl("create", "-f", "-", stdin=_MANIFEST)

    assert await kubectl("label", "pod", "p", "x=y") == "pod/p labeled\n"
    assert await kubectl("annotate", "pod", "p", "x=y") == "pod/p annotated\n"
    status = '{"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}'
    await kubectl("patch", "pod", "p", "--subresource=status", "--type=merge", "-p", status)
    assert await kubectl("wait", "pod/p", "--for=condition=Ready", "--timeout=10s") == "pod/p condition met\n"


async def test_wait_for_deletion_and_watch(kubectl: Kubectl) -> None:
    await kubectl("apply", "-f", "-", stdin=_MANIFEST)
    watching = await kubectl.start("get", "pods", "-w", "--output-watch-events", "--no-headers")
    assert watching.stdout is not None
    assert (await watching.stdout.readline()).split()[:2] == [b"ADDED", b"p"]

    # `delete` itself waits until the pod is gone.
    assert await kubectl("delete", "pod", "p") == 'pod "p" deleted\n'

    assert (await watching.stdout.readline()).split()[:2] == [b"DELETED", b"p"]
    watching.terminate()
    await watching.communicate()


async def test_refusals_are_told(kubectl: Kubectl) -> None:
    broken = _MANIFEST.replace("containers:", "conteiners:")
    missing = _MANIFEST.replace("{name: gpu, resourceClaimName: shared}", "{name: gpu}")

    strict = await kubectl("create", "-f", "-", stdin=broken, fails=True)
    invalid = await kubectl("apply", "-f", "-", stdin=missing, fails=True)

    assert 'strict decoding error: unknown field "spec.conteiners"' in strict
    assert "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`" in invalid


async def test_the_cluster_is_described(kubectl: Kubectl) -> None:
    resources = await kubectl("api-resources", "--api-group=resource.k8s.io", "-o", "name")

    assert resources.split() == [
        "deviceclasses.resource.k8s.io",
        "devicetaintrules.resource.k8s.io",
        "resourceclaims.resource.k8s.io",
        "resourceclaimtemplates.resource.k8s.io",
        "resourceslices.resource.k8s.io",
    ]
    assert "resource.k8s.io/v1\n" in await kubectl("api-versions")
    assert "is running at" in await kubectl("cluster-info")
    assert "Server Version: v1.37.0+drayman" in await kubectl("version")


async def test_wrong_token_is_unauthorized(kubectl: Kubectl) -> None:
    refused = await kubectl("get", "pods", "--token=other", fails=True)

    assert "You must be logged in to the server" in refused
