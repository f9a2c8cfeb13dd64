"""The environment that a container starts with: declared variables over the node's own, CDI edits over both."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from drayman.errors import DraymanError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drayman.kube.client import Object

BASE = {"HOME": "/root", "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")
_KEYED = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")


class VariableError(DraymanError):
    """A variable of a container cannot be computed."""


def environment(pod: Object, container: Mapping[str, Any], *, host_ip: str, pod_ip: str) -> dict[str, str]:
    """Return the environment of `container` before CDI edits.

    Raises :class:`VariableError` for a variable from a source that only a real kubelet can read.
    """
    values = {**BASE, "HOSTNAME": pod["spec"].get("hostname") or pod["metadata"]["name"]}
    for variable in container.get("env", ()):
        source = variable.get("valueFrom")
        if source is None:
            values[variable["name"]] = expand(variable.get("value", ""), values)
        elif "fieldRef" in source:
            values[variable["name"]] = _field(pod, source["fieldRef"]["fieldPath"], host_ip, pod_ip)
        elif not next(iter(source.values())).get("optional"):
            kind = next(iter(source))
            raise VariableError(f"env `{variable['name']}`: `{kind}` is not supported by the fake kubelet")
    return values


def expand(text: str, values: Mapping[str, str]) -> str:
    """Replace `$(NAME)` by the value of NAME, where it is known, and `$$` by `$`."""

    def value(match: re.Match[str]) -> str:
        if match[1] is None:
            return "$"
        return values.get(match[1], match[0])

    return _REFERENCE.sub(value, text)


def _field(pod: Object, path: str, host_ip: str, pod_ip: str) -> str:
    metadata, spec = pod["metadata"], pod["spec"]
    if match := _KEYED.fullmatch(path):
        return str(metadata.get(match[1], {}).get(match[2], ""))
    fields = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "metadata.uid": metadata["uid"],
        "spec.nodeName": spec["nodeName"],
        "spec.serviceAccountName": spec.get("serviceAccountName", "default"),
        "status.hostIP": host_ip,
        "status.hostIPs": host_ip,
        "status.podIP": pod_ip,
        "status.podIPs": pod_ip,
    }
    if path not in fields:
        raise VariableError(f"unsupported fieldPath: {path}")
    return str(fields[path])
