"""Discovery: which groups, versions and resources there are, a document each or all in one (aggregated)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman.kube.http import Request, Response
from drayman.testing.apiserver.refusal import answer
from drayman.testing.apiserver.store import encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drayman.testing.apiserver.registry import Registry, Served

Object = dict[str, Any]

_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
_READ_WRITE = ("get", "patch", "update")
_AGGREGATED = "APIGroupDiscoveryList"
_AGGREGATED_VERSIONS = ("v2", "v2beta1")


@dataclass(frozen=True, slots=True)
class _Subresource:
    """What discovery says about a subresource; without `kind` it answers with its resource's own."""

    verbs: tuple[str, ...]
    group: str = ""
    version: str = ""
    kind: str = ""


_SUBRESOURCES = {
    "approval": _Subresource(_READ_WRITE),
    "binding": _Subresource(("create",), "", "v1", "Binding"),
    "ephemeralcontainers": _Subresource(_READ_WRITE),
    "eviction": _Subresource(("create",), "policy", "v1", "Eviction"),
    "finalize": _Subresource(("update",)),
    "log": _Subresource(("get",)),
    "resize": _Subresource(_READ_WRITE),
    "scale": _Subresource(_READ_WRITE, "autoscaling", "v1", "Scale"),
    "status": _Subresource(_READ_WRITE),
}


class Discovery:
    """Answers requests about the API itself. Everything is served from the table of kinds."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._groups = registry.groups()

    def handle(self, request: Request) -> Response | None:
        """Answer a discovery request; None for any other path and for groups that are not served."""
        match request.path.strip("/").split("/"):
            case ["api"]:
                return self._aggregated(request, core=True) or answer(200, self._core_versions())
            case ["apis"]:
                return self._aggregated(request, core=False) or answer(200, self._group_list())
            case ["apis", group] if group and group in self._groups:
                return answer(200, {"kind": "APIGroup", "apiVersion": "v1", **self._group(group)})
            case ["api", version] if version in self._groups[""]:
                return answer(200, self._resource_list("", version))
            case ["apis", group, version] if group and version in self._groups.get(group, ()):
                return answer(200, self._resource_list(group, version))
        return None

    def _core_versions(self) -> Object:
        return {"kind": "APIVersions", "versions": self._groups[""], "serverAddressByClientCIDRs": []}

    def _group_list(self) -> Object:
        groups = [self._group(group) for group in self._groups if group]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}

    def _group(self, group: str) -> Object:
        versions = [{"groupVersion": f"{group}/{version}", "version": version} for version in self._groups[group]]
        return {"name": group, "versions": versions, "preferredVersion": versions[0]}

    def _resource_list(self, group: str, version: str) -> Object:
        resources: list[Object] = []
        for served in self._registry.in_version(group, version):
            kind = served.kind
            names = {
                "name": kind.plural,
                "singularName": kind.singular,
                "namespaced": kind.namespaced,
                "kind": kind.kind,
            }
            resources.append({**names, "verbs": _VERBS, **_nicknames(served)})
            for name, subresource in _subresources(served):
                row = {"name": f"{kind.plural}/{name}", "singularName": "", "namespaced": kind.namespaced}
                if subresource.kind:
                    row |= {"group": subresource.group, "version": subresource.version}
                resources.append({**row, "kind": subresource.kind or kind.kind, "verbs": subresource.verbs})
        group_version = f"{group}/{version}" if group else version
        return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources}

    def _aggregated(self, request: Request, *, core: bool) -> Response | None:
        version = _aggregated_version(request)
        if version is None:
            return None
        items = [self._discovered_group(group) for group in self._groups if (group == "") is core]
        body = {"kind": _AGGREGATED, "apiVersion": f"apidiscovery.k8s.io/{version}", "metadata": {}, "items": items}
        content_type = f"application/json;g=apidiscovery.k8s.io;v={version};as={_AGGREGATED}"
        return Response(200, encode(body), {"content-type": content_type})

    def _discovered_group(self, group: str) -> Object:
        versions = []
        for version in self._groups[group]:
            resources = [_discovered_resource(served) for served in self._registry.in_version(group, version)]
            versions.append({"version": version, "resources": resources, "freshness": "Current"})
        return {"metadata": {"name": group, "creationTimestamp": None}, "versions": versions}


def _aggregated_version(request: Request) -> str | None:
    """Return the version of the aggregated form that the client asks for, if it does."""
    for media_range in request.headers.get("accept", "").split(","):
        _, *parameters = (part.strip() for part in media_range.split(";"))
        options = dict(parameter.partition("=")[::2] for parameter in parameters)
        if options.get("as") == _AGGREGATED and options.get("v") in _AGGREGATED_VERSIONS:
            return options["v"]
    return None


def _discovered_resource(served: Served) -> Object:
    kind = served.kind
    response_kind = {"group": kind.group, "version": served.version, "kind": kind.kind}
    resource: Object = {
        "resource": kind.plural,
        "responseKind": response_kind,
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": _VERBS,
        **_nicknames(served),
    }
    subresources = [
        {
            "subresource": name,
            "responseKind": {"group": sub.group, "version": sub.version, "kind": sub.kind}
            if sub.kind
            else response_kind,
            "verbs": sub.verbs,
        }
        for name, sub in _subresources(served)
    ]
    return {**resource, "subresources": subresources} if subresources else resource


def _nicknames(served: Served) -> Object:
    nicknames: Object = {}
    if served.kind.short_names:
        nicknames["shortNames"] = served.kind.short_names
    if served.kind.categories:
        nicknames["categories"] = served.kind.categories
    return nicknames


def _subresources(served: Served) -> Iterator[tuple[str, _Subresource]]:
    for name in served.kind.subresources:
        yield name, _SUBRESOURCES[name]
