"""Which waiting pods use which claim."""

from __future__ import annotations

from collections.abc import Collection

from drayman import resourceclaim
from drayman.framework import Object
from drayman.pods.objects import key_of, node_name_of


class PodIndex:
    """Observes the pods that are not bound, by the keys of their claims."""

    def __init__(self) -> None:
        self._pods: dict[str, set[str]] = {}

    def pods_of(self, claim_key: str) -> Collection[str]:
        """Return the keys of the pods that use the claim "namespace/name"."""
        return self._pods.get(claim_key, ())

    def observe_raw(self, event: str, raw: bytes) -> None:
        """Ignore the JSON."""

    def observe(self, old: Object | None, new: Object | None) -> None:
        """Follow the watch of pods."""
        before, after = _claims_of(old), _claims_of(new)
        if old is not None:
            for claim in before - after:
                pods = self._pods[claim]
                pods.discard(key_of(old))
                if not pods:
                    del self._pods[claim]
        if new is not None:
            for claim in after - before:
                self._pods.setdefault(claim, set()).add(key_of(new))


def _claims_of(pod: Object | None) -> frozenset[str]:
    if pod is None or node_name_of(pod) or not pod["spec"].get("resourceClaims"):
        return frozenset()
    namespace = pod["metadata"]["namespace"]
    return frozenset(f"{namespace}/{reference.name}" for _, reference in resourceclaim.references(pod))
