"""The rights that a run needs in a cluster, and which of them who runs it does not have."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman import manifests
from drayman.kube.resources import Resource
from drayman.testing.scenario import DELETE, UPDATE, marked

if TYPE_CHECKING:
    from drayman.kube.client import Client
    from drayman.testing.scenario import Scenario

REVIEWS = Resource(
    "authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", namespaced=False
)
RBAC = "rbac.authorization.k8s.io"
DRA = "resource.k8s.io"
_AT_ONCE = 8
"""How many questions are asked at a time: servers queue those of one user, and others work there."""


@dataclass(frozen=True, slots=True, order=True)
class Right:
    """May one `verb` be done to `resource` ("pods", "pods/log") of `group`, in all namespaces or in one."""

    group: str
    resource: str
    verb: str
    namespace: str = ""

    def review(self) -> dict[str, Any]:
        """Return the question whether the client has it."""
        resource, _, subresource = self.resource.partition("/")
        attributes = {
            "verb": self.verb,
            "group": self.group,
            "resource": resource,
            "subresource": subresource,
            "namespace": self.namespace,
        }
        spec = {"resourceAttributes": {key: value for key, value in attributes.items() if value}}
        return {"apiVersion": REVIEWS.api_version, "kind": REVIEWS.kind, "spec": spec}


def to(verbs: str, *resources: str, group: str = "", namespace: str = "") -> list[Right]:
    """Return the rights to do each of `verbs`, separated by blanks, to each of `resources`."""
    return [Right(group, resource, verb, namespace) for resource in resources for verb in verbs.split()]


def to_look() -> list[Right]:
    """Return what it takes to see whether a cluster is fit for a run."""
    return [
        *to("list", "nodes", "namespaces"),
        *to("list", "resourceslices", "deviceclasses", "resourceclaims", group=DRA),
    ]


def to_run() -> list[Right]:
    """Return what every run needs: a namespace of its own, and to remove by label what it has created."""
    return [
        *to("create delete", "namespaces"),
        *to("list delete", "pods"),
        *to("delete", "deviceclasses", group=DRA),
    ]


def to_take_turns(namespace: str) -> list[Right]:
    """Return what it takes to share a driver's devices with other runs."""
    return to("get list create update delete", "leases", group="coordination.k8s.io", namespace=namespace)


def to_have_an_account() -> list[Right]:
    """Return what a service account with a role of its own and a token needs."""
    return [
        *to("create", "serviceaccounts", "serviceaccounts/token"),
        *to("create list delete", "clusterroles", "clusterrolebindings", group=RBAC),
    ]


def to_install_driver() -> list[Right]:
    """Return what a driver in the cluster needs, with its account."""
    return [
        *to("create", "serviceaccounts"),
        *to("create", "daemonsets", group="apps"),
        *to("create list delete", "clusterroles", "clusterrolebindings", group=RBAC),
        *to("create", "deviceclasses", group=DRA),
        *to("delete", "resourceslices", group=DRA),
    ]


def of_role(part: str) -> list[Right]:
    """Return the rights of the role of `part`. Who may not do something cannot give others the right to."""
    return [
        Right(group, resource, verb)
        for rule in manifests.role(part)["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    ]


def to_play(scenarios: Sequence[Scenario], resources: Mapping[str, Resource]) -> list[Right]:
    """Return what playing scenarios needs; `resources` are those of the kinds of their objects."""
    objects = [obj for played in scenarios for step in played.steps for obj in step]
    deleted = {obj["kind"] for obj in objects if marked(obj, DELETE)}
    patched = {obj["kind"] for obj in objects if marked(obj, UPDATE)}
    verbs = {"create": {obj["kind"] for obj in objects}, "delete": deleted, "patch": patched}
    return [
        *(
            Right(resources[kind].group, resources[kind].plural, verb)
            for verb, kinds in verbs.items()
            for kind in kinds
        ),
        *to("get", "namespaces", "pods/log"),
        *to("list", "pods", "events"),
        *to("list", "events", group="events.k8s.io"),
        *to("list", "resourceclaims", "resourceclaimtemplates", group=DRA),
    ]


async def missing(client: Client, wanted: Iterable[Right]) -> list[Right]:
    """Return the rights that the client does not have. Raises :class:`~drayman.errors.APIStatusError` when the server
    does not say.
    """
    places = asyncio.Semaphore(_AT_ONCE)

    async def lacks(right: Right) -> bool:
        async with places:
            answer = await client.create(REVIEWS, right.review())
        return not answer["status"].get("allowed")

    asked = sorted(set(wanted))
    answers = await asyncio.gather(*map(lacks, asked))
    return [right for right, lacking in zip(asked, answers, strict=True) if lacking]


def told(rights: Sequence[Right]) -> list[str]:
    """Return rights as people read them, a line for each resource."""
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for right in sorted(set(rights)):
        grouped.setdefault((right.group, right.resource, right.namespace), []).append(right.verb)
    return [_told(verbs, *place) for place, verbs in grouped.items()]


def _told(verbs: Sequence[str], group: str, resource: str, namespace: str) -> str:
    name, slash, subresource = resource.partition("/")
    full = f"{name}.{group}{slash}{subresource}" if group else resource
    return f"{', '.join(verbs)} `{full}`{f' in namespace `{namespace}`' if namespace else ''}"
