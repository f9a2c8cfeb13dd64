"""The service accounts of our scheduler and driver: each has its own role, and none is an administrator."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from drayman import manifests
from drayman.kube.resources import NAMESPACES, Resource
from drayman.manifests.release import NAMESPACE

if TYPE_CHECKING:
    from drayman.kube.client import Client
    from drayman.kube.config import ServerConfig

SCHEDULER, DRIVER = "scheduler", "driver"

_ACCOUNTS = Resource("", "v1", "ServiceAccount", "serviceaccounts")
_ROLES = Resource("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", namespaced=False)
_BINDINGS = Resource("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False)
_TOKEN_SECONDS = 7 * 24 * 3600


async def create(client: Client, server: ServerConfig) -> dict[str, ServerConfig]:
    """Create the accounts with their roles; return for each part how it reaches `server`."""
    await client.create(NAMESPACES, {**_typed(NAMESPACES), "metadata": {"name": NAMESPACE}})
    return {part: replace(server, token=await _create(client, part)) for part in (SCHEDULER, DRIVER)}


async def _create(client: Client, part: str) -> str:
    """Create one account, and return a token for it."""
    role = await client.create(_ROLES, manifests.role(part))
    name = role["metadata"]["name"]
    account = {"name": name, "namespace": NAMESPACE}
    await client.create(_ACCOUNTS, {**_typed(_ACCOUNTS), "metadata": account})
    binding = {
        **_typed(_BINDINGS),
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _ROLES.group, "kind": _ROLES.kind, "name": name},
        "subjects": [{"kind": _ACCOUNTS.kind, **account}],
    }
    await client.create(_BINDINGS, binding)
    request = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "metadata": account,
        "spec": {"expirationSeconds": _TOKEN_SECONDS},
    }
    answer = await client.create(_ACCOUNTS, request, subresource="token")
    return str(answer["status"]["token"])


def _typed(resource: Resource) -> dict[str, str]:
    return {"apiVersion": resource.api_version, "kind": resource.kind}
