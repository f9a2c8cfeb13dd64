"""The manifests of the scheduler, changed as the values of its chart would change them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import yaml

from drayman import features
from drayman.api.validation import names
from drayman.errors import InputError
from drayman.manifests.release import Object, Release, load
from drayman.names import SCHEDULER_NAME

MOST_REPLICAS = 100
COMPATIBILITIES = ("fixed", "1.37")
CONFIG = "scheduler.yaml"
"""The key of the configuration in its ConfigMap."""

_CHECKSUM = "checksum/config"
_ELECTION = frozenset({"Role", "RoleBinding"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduler(Release):
    """A scheduler; without `leader_election` chosen, a leader is elected where there is more than one replica.

    An empty `kubernetes_version` is the newest known one.
    """

    chart: ClassVar[str] = "drayman-scheduler"

    replicas: int = 1
    leader_election: bool | None = None
    scheduler_name: str = SCHEDULER_NAME
    compatibility: str = "fixed"
    kubernetes_version: str = ""
    feature_gates: Mapping[str, bool] = field(default_factory=dict)

    def check(self) -> None:
        """Raise :class:`~drayman.errors.InputError` for wrong values."""
        if not 0 <= self.replicas <= MOST_REPLICAS:
            raise InputError(f"`{self.replicas}` where 0 to {MOST_REPLICAS} are possible", field="replicas")
        if problems := names.dns_subdomain(self.scheduler_name):
            raise InputError(f"`{self.scheduler_name}`: {problems[0]}", field="scheduler name")
        if self.compatibility not in COMPATIBILITIES:
            known = ", ".join(f"`{one}`" for one in COMPATIBILITIES)
            raise InputError(f"`{self.compatibility}` is not known; known are {known}", field="compatibility")
        version = self.kubernetes_version or features.LATEST
        features.resolve(kubernetes_version=version, feature_gates=self.feature_gates)

    @property
    def elects(self) -> bool:
        """Whether the replicas elect a leader."""
        return self.replicas > 1 if self.leader_election is None else self.leader_election

    def objects(self) -> list[Object]:
        """Return the objects in the order in which they can be created."""
        kept = [one for one in self.named(load("scheduler-replicated.yaml")) if self._needs(one["kind"])]
        by_kind = {one["kind"]: one for one in kept}
        config = self._configuration(by_kind["ConfigMap"])
        spec = by_kind["Deployment"]["spec"]
        spec["replicas"] = self.replicas
        spec["template"]["metadata"]["annotations"][_CHECKSUM] = _checksum(config)
        pod = spec["template"]["spec"]
        if self.replicas <= 1:
            del pod["topologySpreadConstraints"]
        (container,) = pod["containers"]
        container["args"] += self._arguments()
        self.place(pod)
        return kept

    def _needs(self, kind: str) -> bool:
        if kind == "PodDisruptionBudget":
            return self.replicas > 1
        return self.elects or kind not in _ELECTION

    def _configuration(self, config_map: Object) -> Object:
        """Change the configuration in its ConfigMap, and return it."""
        config: Object = yaml.safe_load(config_map["data"][CONFIG])
        election = {"resourceName": self.full_name, "resourceNamespace": self.namespace}
        config["leaderElection"] = {**config["leaderElection"], **election} if self.elects else {"leaderElect": False}
        (profile,) = config["profiles"]
        profile["schedulerName"] = self.scheduler_name
        profile["pluginConfig"][0]["args"]["compatibility"] = self.compatibility
        config_map["data"][CONFIG] = yaml.safe_dump(config, sort_keys=True)
        return config

    def _arguments(self) -> list[str]:
        version = [f"--kubernetes-version={self.kubernetes_version}"] if self.kubernetes_version else []
        gates = [f"{name}={str(on).lower()}" for name, on in sorted(self.feature_gates.items())]
        return [*version, f"--feature-gates={','.join(gates)}"] if gates else version


def _checksum(config: Mapping[str, Any]) -> str:
    """Return the checksum that helm's `toRawJson | sha256sum` gives: pods are replaced when it changes."""
    text = json.dumps(config, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
