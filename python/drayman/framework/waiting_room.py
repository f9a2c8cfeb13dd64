"""Pods that wait for a change in the cluster, indexed by who refused them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from drayman.framework.queued_pod import QueuedPod


class WaitingRoom:
    """Refused and held-back pods, in the order in which they came, by profile and plugin.

    A change is shown only to the pods that a plugin registered for it has refused, and of those only to the ones that
    the plugin's index names: no change costs time in proportion to all waiting pods unless it may help all of them.
    """

    def __init__(self) -> None:
        self._by_key: dict[str, QueuedPod] = {}
        self._by_rejector: dict[tuple[str, str], dict[str, QueuedPod]] = {}

    def add(self, queued: QueuedPod) -> None:
        """Let `queued` wait."""
        self._by_key[queued.key] = queued
        for plugin in sorted(queued.rejectors):
            self._by_rejector.setdefault((queued.profile, plugin), {})[queued.key] = queued

    def discard(self, queued: QueuedPod) -> None:
        """Let `queued` go, if it is here."""
        self._by_key.pop(queued.key, None)
        for plugin in queued.rejectors:
            self._by_rejector.get((queued.profile, plugin), {}).pop(queued.key, None)

    def refused_by(self, profile: str, plugin: str, keys: Collection[str] | None = None) -> list[QueuedPod]:
        """Return the pods that `plugin` refused; with `keys`, only those of them."""
        pods = self._by_rejector.get((profile, plugin), {})
        if keys is None:
            return list(pods.values())
        return [pods[key] for key in sorted(keys) if key in pods]

    def all(self) -> Iterable[QueuedPod]:
        """Return all pods, those that came first before the others."""
        return list(self._by_key.values())
