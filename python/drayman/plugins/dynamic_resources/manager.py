"""The state that the plugins of all profiles share: the inventory, the claims, the pods that use them."""

from __future__ import annotations

from collections.abc import Callable

from drayman import resourceclaim
from drayman.framework import Handle, Object
from drayman.plugins.dynamic_resources.inventory import Change, Inventory
from drayman.plugins.dynamic_resources.pod_index import PodIndex
from drayman.plugins.dynamic_resources.tracker import ClaimTracker
from drayman.pods.objects import is_being_deleted, key_of

INVENTORY_KINDS = ("ResourceSlice", "DeviceClass", "DeviceTaintRule", "Node")
"""What the inventory has to know besides claims."""


class _Feed:
    """Hands the objects of one kind to the inventory."""

    def __init__(self, kind: str, manager: DeviceManager) -> None:
        self._kind = kind
        self._manager = manager

    def observe_raw(self, event: str, raw: bytes) -> None:
        """Take over an object."""
        if event != "DELETED":
            self._manager.last_change = self._manager.inventory.apply(raw)

    def observe(self, old: Object | None, new: Object | None) -> None:
        """Drop an object that is gone."""
        if new is None and old is not None:
            self._manager.last_change = self._manager.inventory.delete(self._kind, old["metadata"]["name"])


class DeviceManager:
    """One for each scheduler; made before the watches start.

    `last_change` is what the newest change of a slice, class, taint rule or node could help; hints are asked right
    after a change, and read it there.
    """

    def __init__(self, handle: Handle, inventory: Inventory) -> None:
        self.inventory = inventory
        self._fixed = handle.settings.fixed
        self.tracker = ClaimTracker(handle, inventory)
        self.pods = PodIndex()
        self.last_change: Change | None = None
        self.classes = handle.objects("DeviceClass")
        handle.observe("ResourceClaim", self.tracker)
        handle.observe("Pod", self.pods)
        for kind in INVENTORY_KINDS:
            handle.observe(kind, _Feed(kind, self))

    def claims_of(self, pod: Object) -> list[Object]:
        """Return the claims of `pod`, in the order of its spec.

        A claim that two entries name is one claim. Upstream 1.37.2 takes it for two, and asks for its devices twice.

        Raises :class:`~drayman.resourceclaim.ClaimReferenceError` with upstream's text when one is missing, on its way
        out, or another pod's.
        """
        claims = [claim for entry in pod["spec"].get("resourceClaims") or () for claim in self._claim_of(pod, entry)]
        return list({key_of(claim): claim for claim in claims}.values()) if self._fixed else claims

    def _claim_of(self, pod: Object, entry: Object) -> list[Object]:
        reference = resourceclaim.reference(pod, entry)
        if reference is None:
            return []
        key = f"{pod['metadata']['namespace']}/{reference.name}"
        claim = self.tracker.get(key)
        if claim is None:
            raise ClaimMissingError(f'could not find ResourceClaim "{key}"')
        if is_being_deleted(claim):
            raise resourceclaim.ClaimReferenceError(f'resourceclaim "{reference.name}" is being deleted')
        if reference.check_owner:
            resourceclaim.check_for_pod(pod, claim)
        return [claim]


class ClaimMissingError(resourceclaim.ClaimReferenceError):
    """A claim that a pod names does not exist."""


def shared_manager(handle: Handle, make_inventory: Callable[[], Inventory]) -> DeviceManager:
    """Return the scheduler's manager, made at the first call."""
    return handle.shared("DynamicResources", lambda: DeviceManager(handle, make_inventory()))
