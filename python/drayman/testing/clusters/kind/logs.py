"""What nodes and pods of a cluster say: kept in a folder, and the part of it that tells why something is not ready."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from drayman.errors import DraymanError
from drayman.kube.resources import EVENTS, NODES, PODS

if TYPE_CHECKING:
    from drayman.kube.client import Client
    from drayman.testing.clusters.kind.commands import Commands
    from drayman.testing.clusters.kind.docker import Docker

Object = Mapping[str, Any]

NODES_FOLDER = "nodes"
"""Below the folder of a cluster's output, what was exported from its nodes; there is none before they were started."""

_PREFIX = "drayman-logs-"
_EXPORT_SECONDS = 180.0
_SHOWN = 6
_WRONG = re.compile(r"^E\d{4} |level=(error|fatal)|\b(failed|error|panic|too many open files)\b", re.IGNORECASE)
_UNIMPORTANT = re.compile(r"^I\d{4} |level=(debug|info|warning)")
_UNITS = ("kubelet", "containerd")
_JOURNAL = ("journalctl", "--lines=200", "--no-pager", "--output=cat")
_CRASHES = 3
_HOPELESS = frozenset(
    {
        "ErrImagePull",
        "ImagePullBackOff",
        "ErrImageNeverPull",
        "InvalidImageName",
        "CreateContainerConfigError",
    }
)


@contextlib.contextmanager
def folder(chosen: Path | None) -> Iterator[Path]:
    """Yield where output is kept: a folder that the user has chosen, else one that is removed unless the block fails.

    A failure that has no hint yet names the folder.
    """
    if chosen is not None:
        chosen.mkdir(parents=True, exist_ok=True)
    place = chosen or Path(tempfile.mkdtemp(prefix=_PREFIX))
    keep = chosen is not None
    try:
        yield place
    except DraymanError as error:
        keep = keep or (place / NODES_FOLDER).exists()
        error.hint = _hint(error.hint, place, kept=keep)
        raise
    finally:
        if not keep:
            shutil.rmtree(place, ignore_errors=True)


def discard(place: str | None) -> None:
    """Remove a folder of output that a killed process has left."""
    if place is not None and Path(place).name.startswith(_PREFIX):
        shutil.rmtree(place, ignore_errors=True)


def _hint(given: str | None, place: Path, *, kept: bool) -> str | None:
    """Return a hint that names the folder when it is kept, and does not when it is not."""
    named = given is not None and str(place) in given
    if not kept:
        return None if named else given
    return given if named else "; ".join([*([given] if given else []), f"its whole output: {place}"])


async def export(commands: Commands, kind: Path, cluster: str, client: Client | None) -> None:
    """Keep the journals of the nodes, the output of all containers, and the cluster's events, pods and nodes."""
    place = commands.logs / NODES_FOLDER
    place.mkdir(exist_ok=True)
    with contextlib.suppress(DraymanError):
        await commands.run(kind, "export", "logs", place, "--name", cluster, seconds=_EXPORT_SECONDS)
    if client is None:
        return
    for resource in (EVENTS, PODS, NODES):
        with contextlib.suppress(DraymanError, OSError):
            objects, _ = await client.list(resource)
            path = commands.logs / f"{resource.plural}.yaml"
            path.write_text(yaml.safe_dump_all([dict(one) for one in objects], sort_keys=False))


async def journal(docker: Docker, containers: Sequence[str]) -> str:
    """Return what kubelet and containerd complain of on the nodes, or nothing."""
    said: list[str] = []
    for container in containers:
        for unit in _UNITS:
            with contextlib.suppress(DraymanError):
                # What the program itself said, and not what systemd says of its unit.
                lines = (await docker.execute(container, *_JOURNAL, f"_SYSTEMD_UNIT={unit}.service")).splitlines()
                said += [f"{container}: {line[:400]}" for line in _complaints(lines)]
    return "\n".join(dict.fromkeys(said))


def _complaints(lines: Sequence[str]) -> list[str]:
    """Return the last lines that tell of something wrong, else the last ones that are more than information."""
    important = [line for line in lines if not _UNIMPORTANT.search(line)]
    wrong = [line for line in important if _WRONG.search(line)]
    return list(dict.fromkeys(wrong or important))[-_SHOWN:]


def nodes_trouble(nodes: Sequence[Object]) -> str | None:
    """Return why a node is not ready, or None."""
    for node in nodes:
        conditions = node.get("status", {}).get("conditions", ())
        ready = next((one for one in conditions if one["type"] == "Ready"), {"status": "Unknown"})
        if ready["status"] != "True":
            reason = ready.get("message") or "its kubelet has not said anything"
            return f"node `{node['metadata']['name']}` is not ready: {reason}"
    return None


def waiting(pods: Sequence[Object]) -> list[str]:
    """Return what pods wait for, one line each."""
    return [line for pod in pods for line in _waiting(pod)]


def hopeless(pods: Sequence[Object]) -> bool:
    """Return whether a container will not start, however long one waits."""
    statuses = [one for pod in pods for one in pod.get("status", {}).get("containerStatuses", ())]
    return any(
        _reason(one) in _HOPELESS or (_reason(one) == "CrashLoopBackOff" and one["restartCount"] >= _CRASHES)
        for one in statuses
    )


async def last_words(client: Client, pods: Sequence[Object]) -> str:
    """Return the end of what the containers said that are not ready."""
    from drayman.kube.http import Request

    said: list[str] = []
    for pod in pods:
        meta = pod["metadata"]
        for one in pod.get("status", {}).get("containerStatuses", ()):
            if one.get("ready"):
                continue
            query = [("container", one["name"]), ("tailLines", str(_SHOWN))]
            if one.get("restartCount"):
                query.append(("previous", "true"))
            path = PODS.path(meta["name"], meta["namespace"], "log")
            with contextlib.suppress(DraymanError, OSError):
                answer = await client.transport.request(Request("GET", path, tuple(query), {"accept": "*/*"}))
                if answer.status == 200:
                    said.append(answer.body.decode(errors="replace").strip())
    return "\n".join(filter(None, said))


def _waiting(pod: Object) -> Iterator[str]:
    name = f"pod `{pod['metadata']['namespace']}/{pod['metadata']['name']}`"
    status = pod.get("status", {})
    for one in status.get("containerStatuses", ()):
        state = one.get("state", {}).get("waiting")
        if state:
            yield f"{name}: container `{one['name']}`: {state.get('reason')}: {state.get('message', '')}".rstrip(": ")
        elif not one.get("ready"):
            yield f"{name}: container `{one['name']}` is not ready"
    for one in status.get("conditions", ()):
        if one["type"] == "PodScheduled" and one["status"] == "False":
            yield f"{name}: {one.get('message', one.get('reason', ''))}"


def _reason(status: Object) -> str:
    return str((status.get("state", {}).get("waiting") or {}).get("reason", ""))
