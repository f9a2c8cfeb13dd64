"""Gives pods the claims of their templates, and reserves claims for pods that were bound without a reservation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman import resourceclaim
from drayman.errors import APIStatusError
from drayman.kube.informer import key_of
from drayman.kube.resources import CLAIM_TEMPLATES, CLAIMS, PODS
from drayman.names import POD_CLAIM_NAME
from drayman.resourceclaim import ClaimReferenceError
from drayman.testing.controllers.context import Index
from drayman.testing.controllers.pods import is_terminal
from drayman.testing.controllers.queue import SyncError
from drayman.testing.controllers.resourceclaim.generate import claim_from_template

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drayman.kube.client import Object
    from drayman.testing.controllers.context import Context

FIELD_MANAGER = "ResourceClaimController"


class Provisioner:
    """Brings the claims of one pod to where the pod can be scheduled or, when it is bound already, run."""

    def __init__(self, context: Context) -> None:
        self._client = context.client
        self._gates = context.gates
        self._pod_groups = "DRAWorkloadResourceClaims" in context.gates
        self._pods = context.informer(PODS).store
        self._claims = context.informer(CLAIMS).store
        self._templates = context.informer(CLAIM_TEMPLATES).store
        self._claims_by_owner = Index(context.informer(CLAIMS), _owner_keys)
        self._recorder = context.recorder("resource_claim")

    def needs_work(self, pod: Object) -> bool:
        """Tell whether :meth:`sync` may have something to do for `pod`, which is neither terminal nor gone."""
        if "deletionTimestamp" in pod["metadata"]:
            return False
        for entry in pod["spec"].get("resourceClaims", ()):
            try:
                found = resourceclaim.reference(pod, entry)
            except ClaimReferenceError:
                return True
            if found is None:
                continue
            claim = self._claims.get(f"{pod['metadata']['namespace']}/{found.name}")
            if claim is None:
                if entry.get("resourceClaimTemplateName"):
                    return True
            elif pod["spec"].get("nodeName") and self._must_reserve(pod, claim):
                return True
        return False

    async def sync(self, key: str) -> None:
        """Create missing claims of the pod `key`, record them in its status, and reserve them if it is bound."""
        pod = self._pods.get(key)
        if pod is None or "deletionTimestamp" in pod["metadata"] or is_terminal(pod):
            return
        generated: dict[str, str] = {}
        for entry in pod["spec"].get("resourceClaims", ()):
            try:
                name = await self._ensure_claim(pod, entry)
            except (APIStatusError, ClaimReferenceError, SyncError) as error:
                note = f"PodResourceClaim {entry['name']}: {error}"
                await self._recorder.event(pod, "Warning", "FailedResourceClaimCreation", note)
                raise SyncError(f"pod {key}, {note}") from error
            if name is not None:
                generated[entry["name"]] = name
        if generated:
            pod = await self._record(pod, generated)
        if pod["spec"].get("nodeName"):
            await self._reserve(pod)

    async def _ensure_claim(self, pod: Object, entry: Object) -> str | None:
        """Return the name of the claim to record for `entry`, or None when the pod's status is right as it is."""
        template = entry.get("resourceClaimTemplateName")
        try:
            found = resourceclaim.reference(pod, entry)
        except resourceclaim.ClaimNotCreatedError:
            pass
        else:
            if template is None or found is None or await self._is_good(pod, found.name):
                return None
        existing = self._orphan(pod, entry["name"])
        if existing is not None:
            return str(existing["metadata"]["name"])
        created = await self._create(pod, entry["name"], str(template))
        return str(created["metadata"]["name"])

    async def _is_good(self, pod: Object, name: str) -> bool:
        """Tell whether the generated claim `name` exists and belongs to `pod`; one deleted by accident is replaced."""
        namespace = pod["metadata"]["namespace"]
        claim = self._claims.get(f"{namespace}/{name}")
        if claim is None:
            try:
                claim = await self._client.get(CLAIMS, name, namespace)
            except APIStatusError as error:
                if error.reason != "NotFound":
                    raise
                return False
        try:
            resourceclaim.check_for_pod(pod, claim, pod_groups=self._pod_groups)
        except ClaimReferenceError:
            return False
        return True

    def _orphan(self, pod: Object, entry: str) -> Object | None:
        """Return a claim made for `entry` before, by a controller that stopped before it could update the pod."""
        owner = f"{pod['metadata']['namespace']}/{pod['metadata']['uid']}"
        for claim in self._claims_by_owner[owner]:
            if claim["metadata"].get("annotations", {}).get(POD_CLAIM_NAME) == entry:
                return claim
        return None

    async def _create(self, pod: Object, entry: str, template_name: str) -> Object:
        template = self._templates.get(f"{pod['metadata']['namespace']}/{template_name}")
        if template is None:
            missing = f'resourceclaimtemplate.resource.k8s.io "{template_name}" not found'
            raise SyncError(f'resource claim template "{template_name}": {missing}')
        claim = claim_from_template(template, pod, entry, gates=self._gates)
        try:
            created = await self._client.create(CLAIMS, claim)
        except APIStatusError as error:
            raise SyncError(f"create ResourceClaim : {error}") from error  # upstream: the name is still empty here
        self._claims_by_owner.remember(created)
        return created

    async def _record(self, pod: Object, generated: dict[str, str]) -> Object:
        """Write the claims into the pod's status, beside those that stand there already."""
        metadata = pod["metadata"]
        known = {
            status["name"]: status["resourceClaimName"]
            for status in pod.get("status", {}).get("resourceClaimStatuses", ())
            if status.get("resourceClaimName") is not None
        }
        merged = sorted({**known, **generated}.items())
        configuration = {
            "apiVersion": PODS.api_version,
            "kind": PODS.kind,
            "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
            "status": {"resourceClaimStatuses": [{"name": name, "resourceClaimName": claim} for name, claim in merged]},
        }
        return await self._client.patch(
            PODS,
            metadata["name"],
            metadata["namespace"],
            configuration,
            kind="apply",
            subresource="status",
            field_manager=FIELD_MANAGER,
            force=True,
        )

    async def _reserve(self, pod: Object) -> None:
        """Reserve allocated claims for a pod that was bound without a scheduler's reservation."""
        for _, found in resourceclaim.references(pod):
            claim = self._claims.get(f"{pod['metadata']['namespace']}/{found.name}")
            if claim is None:
                return
            if found.check_owner:
                try:
                    resourceclaim.check_for_pod(pod, claim, pod_groups=self._pod_groups)
                except ClaimReferenceError as error:
                    raise SyncError(str(error)) from error
            if self._must_reserve(pod, claim):
                consumer = {"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
                reserved = [*claim["status"].get("reservedFor", ()), consumer]
                update = {**claim, "status": {**claim["status"], "reservedFor": reserved}}
                try:
                    await self._client.update(CLAIMS, update, subresource="status")
                except APIStatusError as error:
                    raise SyncError(f"reserve claim {key_of(claim)}: {error}") from error

    def _must_reserve(self, pod: Object, claim: Object) -> bool:
        allocated = bool(claim.get("status", {}).get("allocation"))
        return allocated and not resourceclaim.is_reserved_for(pod, claim, pod_groups=self._pod_groups)


def _owner_keys(claim: Object) -> Iterator[str]:
    owner = resourceclaim.controller_of(claim)
    if owner is not None:
        yield f"{claim['metadata']['namespace']}/{owner['uid']}"
