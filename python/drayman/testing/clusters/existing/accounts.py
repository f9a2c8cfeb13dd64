"""Service accounts of a run, each with the role of its part and with nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman import manifests
from drayman.kube.resources import Resource
from drayman.testing.clusters.existing.removal import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES

if TYPE_CHECKING:
    from drayman.kube.client import Client, Object
    from drayman.testing.clusters.existing.run import Run

ACCOUNTS = Resource("", "v1", "ServiceAccount", "serviceaccounts")
_TOKEN_SECONDS = 24 * 3600


async def create(client: Client, run: Run, part: str) -> str:
    """Create the account of `part`, `scheduler` or `driver`, with its role, and return its name."""
    name = run.named(f"drayman-{part}")
    account = {"name": name, "namespace": run.namespace}
    await client.create(ACCOUNTS, _object(ACCOUNTS, {**account, "labels": run.labels}))
    metadata = {"name": name, "labels": run.labels}
    await client.create(CLUSTER_ROLES, _object(CLUSTER_ROLES, metadata, rules=manifests.role(part)["rules"]))
    role = {"apiGroup": CLUSTER_ROLES.group, "kind": CLUSTER_ROLES.kind, "name": name}
    subjects = [{"kind": ACCOUNTS.kind, **account}]
    binding = _object(CLUSTER_ROLE_BINDINGS, metadata, roleRef=role, subjects=subjects)
    await client.create(CLUSTER_ROLE_BINDINGS, binding)
    return name


async def token(client: Client, run: Run, name: str) -> str:
    """Return a token of the account."""
    request = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "metadata": {"name": name, "namespace": run.namespace},
        "spec": {"expirationSeconds": _TOKEN_SECONDS},
    }
    answer = await client.create(ACCOUNTS, request, subresource="token")
    return str(answer["status"]["token"])


def _object(resource: Resource, metadata: Object, **members: object) -> Object:
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **members}
