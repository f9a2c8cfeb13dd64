"""The embedded API server: takes requests, finds out what they are about, and answers.

The handlers know neither sockets nor time: answers depend on the requests, the clock and the seed that were given,
and on nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman import features
from drayman.api import status
from drayman.kube.http import Request, Response, Stream
from drayman.testing.apiserver import paths, reviews, version
from drayman.testing.apiserver.discovery import Discovery
from drayman.testing.apiserver.garbage import GarbageCollector
from drayman.testing.apiserver.identity import Identity
from drayman.testing.apiserver.kinds import BY_COLLECTION
from drayman.testing.apiserver.openapi import OpenAPI
from drayman.testing.apiserver.refusal import Refusal, answer, refusal_answer
from drayman.testing.apiserver.registry import Registry
from drayman.testing.apiserver.resources import ResourceHandlers
from drayman.testing.apiserver.rules import Rules
from drayman.testing.apiserver.store import LOG_SIZE, Store
from drayman.testing.apiserver.writes import Writes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drayman.clock import Clock

_HEALTH = ("healthz", "livez", "readyz")
_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


class APIServer:
    """A Kubernetes API server in memory.

    `runtime_config` switches versions that are not stable on, as `--runtime-config` does:
    `{"resource.k8s.io/v1beta1": True}`. `trust_metadata` keeps `uid` and `creationTimestamp` of created objects where
    they are given. `log_size` is the number of changes to a kind that watches can be resumed from.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        kubernetes_version: str = "1.37",
        feature_gates: Mapping[str, bool] | None = None,
        runtime_config: Mapping[str, bool] | None = None,
        seed: int = 0,
        trust_metadata: bool = False,
        log_size: int = LOG_SIZE,
    ) -> None:
        store = Store(log_size)
        registry = Registry(runtime_config or {})
        gates = features.resolve(feature_gates=feature_gates, kubernetes_version=kubernetes_version)
        rules = Rules(gates, clock, store)
        writes = Writes(store, rules, clock, Identity(seed), trust_metadata=trust_metadata)
        garbage = GarbageCollector(store, writes, clock)
        self._resources = ResourceHandlers(registry, store, writes, garbage.deletion, clock)
        self._discovery = Discovery(registry)
        self._version = version.information(kubernetes_version)
        self._openapi = OpenAPI(registry, self._version["gitVersion"])
        for name in _NAMESPACES:
            namespace: dict[str, Any] = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}}
            writes.create(BY_COLLECTION["namespaces"], namespace)

    async def handle(self, request: Request) -> Response | Stream:
        """Answer one request; refusals are answers too."""
        try:
            place = paths.place(request.path)
            if place is not None:
                return reviews.handle(request, place) or self._resources.handle(request, place)
        except Refusal as refusal:
            return refusal_answer(refusal)
        except RecursionError:
            # Only nesting in the request can be that deep; nothing was written yet.
            return refusal_answer(Refusal(status.bad_request("exceeded max depth")))
        found = self._discovery.handle(request) or self._openapi.handle(request) or self._about(request.path)
        return found or self._resources.not_found(request.path)

    def _about(self, path: str) -> Response | None:
        if path == "/version":
            return answer(200, self._version)
        if path.strip("/").partition("/")[0] in _HEALTH:
            return Response(200, b"ok", {"content-type": "text/plain; charset=utf-8"})
        return None
