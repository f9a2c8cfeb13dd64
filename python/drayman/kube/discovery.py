"""Which resources a server has, by kind and by the names that people type."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from drayman.errors import APIStatusError, InputError
from drayman.kube.http import Request
from drayman.kube.resources import Resource

if TYPE_CHECKING:
    from drayman.kube.client import Client


class Discovery:
    """Looks resources up on the server; what was found once is kept."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._versions: dict[str, list[dict[str, Any]]] = {}

    async def of(self, api_version: str, kind: str) -> Resource:
        """Return the resource of the objects of `kind`.

        Raises :class:`InputError` when the server has none, as kubectl says it.
        """
        for entry in await self._entries(api_version):
            if entry["kind"] == kind and "/" not in entry["name"]:
                return _resource(api_version, entry)
        raise InputError(f'no matches for kind "{kind}" in version "{api_version}"')

    async def named(self, name: str) -> Resource:
        """Return the resource called `name`: kind, plural, singular or short name in any case, or `plural.group`."""
        wanted, _, group = name.lower().partition(".")
        for api_version in await self._api_versions():
            if group and not f"{api_version.rpartition('/')[0]}.".startswith(f"{group}."):
                continue
            for entry in await self._entries(api_version):
                names = {entry["kind"].lower(), entry["name"], entry.get("singularName"), *entry.get("shortNames", ())}
                if wanted in names and "/" not in entry["name"]:
                    return _resource(api_version, entry)
        raise InputError(f'the server doesn\'t have a resource type "{name}"')

    async def serves(self, api_version: str, name: str) -> bool:
        """Return whether the server has the resource or subresource ("serviceaccounts/token") of that name."""
        return any(entry["name"] == name for entry in await self._entries(api_version))

    async def _api_versions(self) -> list[str]:
        """Return every served version, core first, each group's preferred one before its others."""
        groups = (await self._get("/apis"))["groups"]
        versions = ["v1"]
        for group in groups:
            preferred = group["preferredVersion"]["groupVersion"]
            others = [version["groupVersion"] for version in group["versions"]]
            versions += [preferred, *(version for version in others if version != preferred)]
        return versions

    async def _entries(self, api_version: str) -> list[dict[str, Any]]:
        if api_version not in self._versions:
            path = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
            try:
                self._versions[api_version] = (await self._get(path))["resources"]
            except APIStatusError as error:
                if error.code != 404:
                    raise
                return []
        return self._versions[api_version]

    async def _get(self, path: str) -> dict[str, Any]:
        answer = await self._client.transport.request(Request("GET", path, (), {"accept": "application/json"}))
        if answer.status >= 400:  # servers answer with plain text where they have no such path
            raise APIStatusError({"code": answer.status, "message": answer.body.decode(errors="replace").strip()})
        document: dict[str, Any] = json.loads(answer.body)
        return document


def _resource(api_version: str, entry: dict[str, Any]) -> Resource:
    group, _, version = api_version.rpartition("/")
    return Resource(group, version, entry["kind"], entry["name"], bool(entry["namespaced"]))
