"""Which change makes work for which pod or claim; the work itself is in `provision` and `release`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman import resourceclaim
from drayman.kube.informer import key_of
from drayman.kube.resources import CLAIM_TEMPLATES, CLAIMS, PODS
from drayman.testing.controllers.context import Index
from drayman.testing.controllers.pods import is_done
from drayman.testing.controllers.queue import WorkQueue
from drayman.testing.controllers.resourceclaim.provision import Provisioner
from drayman.testing.controllers.resourceclaim.release import Releaser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drayman.kube.client import Object
    from drayman.testing.controllers.context import Context


class ResourceClaimController:
    """Keeps the claims of pods: generated where a template is named, reserved while in use, deallocated afterwards."""

    def __init__(self, context: Context) -> None:
        pods, claims = context.informer(PODS), context.informer(CLAIMS)
        templates = context.informer(CLAIM_TEMPLATES)
        self._queue = WorkQueue(context.clock, "resourceclaim")
        self._pods_by_claim = Index(pods, _claim_keys)
        self._pods_by_template = Index(pods, _template_keys)
        self._provisioner = Provisioner(context)
        self._releaser = Releaser(context)
        pods.add_handler(self._pod_changed, lambda _, new: self._pod_changed(new), self._pod_deleted)
        claims.add_handler(self._claim_changed, lambda _, new: self._claim_changed(new), self._claim_deleted)
        templates.add_handler(self._template_changed, lambda _, new: self._template_changed(new))

    async def run(self) -> None:
        """Work until cancelled."""
        await self._queue.run(self._sync)

    async def _sync(self, item: str) -> None:
        kind, _, key = item.partition(":")
        await (self._provisioner.sync(key) if kind == "pod" else self._releaser.sync(key))

    def _pod_changed(self, pod: Object) -> None:
        if is_done(pod):
            self._release_claims(pod)
        elif self._provisioner.needs_work(pod):
            self._queue.add(f"pod:{key_of(pod)}")

    def _pod_deleted(self, pod: Object) -> None:
        self._releaser.pod_deleted(pod)
        self._release_claims(pod)

    def _release_claims(self, pod: Object) -> None:
        for key in _claim_keys(pod):
            self._queue.add(f"claim:{key}")

    def _claim_changed(self, claim: Object) -> None:
        self._queue.add(f"claim:{key_of(claim)}")
        self._claim_deleted(claim)

    def _claim_deleted(self, claim: Object) -> None:
        for pod in self._pods_by_claim[key_of(claim)]:
            self._pod_changed(pod)

    def _template_changed(self, template: Object) -> None:
        for pod in self._pods_by_template[key_of(template)]:
            self._pod_changed(pod)


def _claim_keys(pod: Object) -> Iterator[str]:
    for _, found in resourceclaim.references(pod):
        yield f"{pod['metadata']['namespace']}/{found.name}"


def _template_keys(pod: Object) -> Iterator[str]:
    for entry in pod["spec"].get("resourceClaims", ()):
        if template := entry.get("resourceClaimTemplateName"):
            yield f"{pod['metadata']['namespace']}/{template}"
