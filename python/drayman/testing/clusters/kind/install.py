"""Installs scheduler and driver with helm from the charts that come with drayman, and waits for them."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Any

import drayman
from drayman import features
from drayman.errors import DraymanError, UnreachableError
from drayman.kube.resources import PODS, SLICES
from drayman.manifests.release import NAMESPACE
from drayman.testing.clusters.kind import logs
from drayman.testing.clusters.kind.commands import CommandError
from drayman.testing.clusters.kind.config import DEVICES_LABEL

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from drayman.testing.clusters.kind.commands import Commands
    from drayman.testing.clusters.kind.versions import Version
    from drayman.testing.clusters.live import Live
    from drayman.testing.parts import Options

SCHEDULER, DRIVER = "drayman-scheduler", "drayman-driver"

_READY_SECONDS = 240.0
_HELM_SECONDS = 180.0
_HELM_FOLDERS = {"HELM_CACHE_HOME": "cache", "HELM_CONFIG_HOME": "config", "HELM_DATA_HOME": "data"}


def values(release: str, options: Options, version: Version) -> dict[str, Any]:
    """Return what a release has instead of its chart's defaults. Its image is on the nodes, or nowhere."""
    image = {"tag": drayman.__version__, "pullPolicy": "Never"}
    if release == DRIVER:
        selector = {DEVICES_LABEL: "mock"}
        return {"image": image, "driverName": options.driver, "devices": options.devices, "nodeSelector": selector}
    gates = {name: on for name, on in version.feature_gates.items() if name in features.GATES}
    return {
        "image": image,
        "compatibility": options.compatibility,
        "kubernetesVersion": options.kubernetes_version,
        "featureGates": {**gates, **options.feature_gates},
    }


class Installer:
    """Installs releases in a cluster. helm's own files are in `folder`, not where the user has theirs."""

    def __init__(self, commands: Commands, helm: Path, kubeconfig: Path, folder: Path) -> None:
        self._commands = commands
        self._helm = helm
        self._kubeconfig = kubeconfig
        self._folder = folder

    @staticmethod
    def environment(folder: Path) -> dict[str, str]:
        """Return the variables that keep helm away from the files of its user."""
        return {name: str(folder / "helm" / place) for name, place in _HELM_FOLDERS.items()}

    async def install(self, release: str, chosen: Mapping[str, Any]) -> None:
        """Install or change a release. Raises :class:`~drayman.errors.DraymanError` with what helm says."""
        path = self._folder / f"{release}-values.json"
        path.write_text(json.dumps(chosen, indent=1))
        with resources.as_file(resources.files("drayman.manifests") / "charts" / release) as chart:
            place = ("--namespace", NAMESPACE, "--create-namespace", "--kubeconfig", self._kubeconfig)
            command = (self._helm, "upgrade", "--install", release, chart, *place, "--values", path)
            try:
                await self._commands.run(*command, seconds=_HELM_SECONDS)
            except CommandError as error:
                failed = DraymanError(f"helm cannot install `{release}`:\n{error.said}")
                failed.hint = error.hint
                raise failed from error


async def until_ready(live: Live, releases: list[str], nodes: int) -> None:
    """Wait until the pods of the releases are ready and every node has published its devices.

    Raises :class:`~drayman.errors.DraymanError` that tells what they wait for.
    """

    async def unmet() -> str | None:
        try:
            missing = await _missing(live, releases, nodes)
            if missing and logs.hopeless(await _pods(live)):
                raise await _failed(live, missing)
        except UnreachableError as error:
            return str(error)
        return missing

    try:
        await live.wait(unmet, _READY_SECONDS)
    except TimeoutError as error:
        raise await _failed(live, str(error)) from error


async def _missing(live: Live, releases: list[str], nodes: int) -> str | None:
    if SCHEDULER in releases:
        status = (await live.get("deployments", f"{NAMESPACE}/{SCHEDULER}")).get("status", {})
        if not status.get("availableReplicas"):
            return f"deployment `{NAMESPACE}/{SCHEDULER}` is not available"
    if DRIVER in releases:
        status = (await live.get("daemonsets", f"{NAMESPACE}/{DRIVER}")).get("status", {})
        ready = status.get("numberReady", 0)
        if ready < nodes:
            return f"daemonset `{NAMESPACE}/{DRIVER}` is ready on {ready} of {nodes} nodes"
        slices, _ = await live.client.list(SLICES)
        published = len({one["spec"].get("nodeName") for one in slices})
        if published < nodes:
            return f"{published} of {nodes} nodes have published their devices"
    return None


async def _pods(live: Live) -> list[Any]:
    return list((await live.client.list(PODS, NAMESPACE))[0])


async def _failed(live: Live, missing: str) -> DraymanError:
    pods = await _pods(live)
    told = [*logs.waiting(pods), await logs.last_words(live.client, pods)]
    return DraymanError("\n".join([missing, *filter(None, told)]))
