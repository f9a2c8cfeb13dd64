"""The scheduler's configuration: upstream's `KubeSchedulerConfiguration`, as far as this scheduler uses it.

Unknown fields are refused, so that a misspelt one is found. Fields of upstream that mean nothing here are accepted, and
logged with the reason, so that an existing file can be used. Our own settings are the arguments of a plugin `Drayman`.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drayman import durations, features
from drayman.errors import InputError
from drayman.framework import Settings
from drayman.kube.election import LeaderElection
from drayman.names import SCHEDULER_NAME
from drayman.scheduler.shape import ANY, NUMBER, TEXT, TRUTH, WHOLE, Fields, Many

log = logging.getLogger(__name__)

API_VERSION = "kubescheduler.config.k8s.io/v1"
KIND = "KubeSchedulerConfiguration"
OWN = "Drayman"
"""Name of the entry in `pluginConfig` that holds our own settings."""

COMPATIBILITIES = ("fixed", "1.37")
STRATEGIES = ("first-fit",)

_UNUSED = {
    "parallelism": "nodes are evaluated in one call of the kernel",
    "clientConnection": "the connection is chosen on the command line",
    "percentageOfNodesToScore": "all nodes are looked at",
    "healthzBindAddress": "the address is chosen on the command line, by --health-bind-address",
    "metricsBindAddress": "this scheduler serves no metrics",
    "enableProfiling": "this scheduler serves no profiles",
    "enableContentionProfiling": "this scheduler serves no profiles",
}
_POINTS = {"multiPoint", "score"}
_PLUGIN_SETS = Fields(
    {
        "enabled": Many(Fields({"name": TEXT, "weight": WHOLE}, required=("name",))),
        "disabled": Many(Fields({"name": TEXT}, required=("name",))),
    }
)
_PROFILE = Fields(
    {
        "schedulerName": TEXT,
        "plugins": Fields(),
        "pluginConfig": Many(Fields({"name": TEXT, "args": Fields()}, required=("name",))),
        "percentageOfNodesToScore": WHOLE,
    }
)
_TOP = Fields(
    {
        "apiVersion": TEXT,
        "kind": TEXT,
        "profiles": Many(_PROFILE),
        "extenders": Many(Fields()),
        "podInitialBackoffSeconds": NUMBER,
        "podMaxBackoffSeconds": NUMBER,
        "leaderElection": Fields(
            {
                "leaderElect": TRUTH,
                **dict.fromkeys(("leaseDuration", "renewDeadline", "retryPeriod"), TEXT),
                **dict.fromkeys(("resourceLock", "resourceName", "resourceNamespace"), TEXT),
            }
        ),
        "delayCacheUntilActive": TRUTH,
        **dict.fromkeys(_UNUSED, ANY),
    }
)
_OWN = Fields({"strategy": TEXT, "compatibility": TEXT, "explain": TRUTH})


@dataclass(frozen=True, slots=True)
class Profile:
    """The pods of one `schedulerName` and the plugins that decide about them.

    `enabled` are plugins besides the built-in ones, `disabled` those left out (`*`: all built-in ones), `weights` those
    of scores where they differ from the default (0 leaves the score out), `arguments` the plugins' own settings.
    """

    scheduler_name: str = SCHEDULER_NAME
    enabled: tuple[str, ...] = ()
    disabled: frozenset[str] = frozenset()
    weights: Mapping[str, int] = field(default_factory=dict)
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Configuration:
    """Everything that a scheduler can be told.

    `serve_all` lets the first profile serve the pods of every schedulerName, for harnesses whose scenarios name other
    schedulers. `leader_election` is checked when it is used: until then, the command line may change it. Raises
    :class:`~drayman.errors.InputError` for values that make no sense.
    """

    profiles: tuple[Profile, ...] = (Profile(),)
    serve_all: bool = False
    compatibility: str = "fixed"
    kubernetes_version: str = features.LATEST
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    strategy: str = "first-fit"
    explain: bool = True
    initial_backoff_seconds: float = 1.0
    max_backoff_seconds: float = 10.0
    leader_election: LeaderElection = field(default_factory=LeaderElection)
    delay_cache_until_active: bool = False

    def __post_init__(self) -> None:
        _check_choice("compatibility", self.compatibility, COMPATIBILITIES)
        _check_choice("strategy", self.strategy, STRATEGIES)
        names = [profile.scheduler_name for profile in self.profiles]
        if len(set(names)) != len(names) or not names:
            raise InputError("profiles need different names, and there must be one", field="profiles")
        if not 0 < self.initial_backoff_seconds <= self.max_backoff_seconds:
            raise InputError(
                "must be positive, and the initial one not above the maximum", field="podMaxBackoffSeconds"
            )

    def settings(self) -> Settings:
        """Return what plugins see of the configuration. Raises :class:`InputError` for wrong feature gates."""
        enabled = features.resolve(kubernetes_version=self.kubernetes_version, feature_gates=self.feature_gates)
        return Settings(self.compatibility, self.kubernetes_version, enabled, self.strategy, self.explain)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Configuration:
        """Read a file with one KubeSchedulerConfiguration. Raises :class:`InputError`, naming file and field."""
        from drayman import manifest

        file = os.fspath(path)
        found = manifest.load([file])
        if len(found) != 1:
            raise InputError(f"{len(found)} objects where one {KIND} is expected", file=file)
        try:
            return cls.from_object(found[0].object)
        except InputError as error:
            raise InputError(error.message, file=file, field=error.field, hint=error.hint) from error

    @classmethod
    def from_object(cls, obj: Mapping[str, Any]) -> Configuration:
        """Read a decoded KubeSchedulerConfiguration. Raises :class:`InputError`, naming the field."""
        if (obj.get("apiVersion"), obj.get("kind")) != (API_VERSION, KIND):
            raise InputError(f"expected {KIND} of {API_VERSION}", field="kind")
        _TOP.check(obj, "")
        if obj.get("extenders"):
            raise InputError("extenders are not supported", field="extenders", hint="write a plugin instead")
        _log_unused(obj, "")
        profiles = tuple(_profile(each, f"profiles[{index}]") for index, each in enumerate(obj.get("profiles") or [{}]))
        own = _own_settings(profiles)
        return cls(
            profiles=profiles,
            compatibility=str(own.get("compatibility", "fixed")),
            strategy=str(own.get("strategy", "first-fit")),
            explain=bool(own.get("explain", True)),
            initial_backoff_seconds=float(obj.get("podInitialBackoffSeconds", 1)),
            max_backoff_seconds=float(obj.get("podMaxBackoffSeconds", 10)),
            leader_election=_leader_election(obj.get("leaderElection") or {}),
            delay_cache_until_active=bool(obj.get("delayCacheUntilActive", False)),
        )


def _leader_election(obj: Mapping[str, Any]) -> LeaderElection:
    """Read the stanza; what is empty or zero takes the default, as upstream has it."""
    given = {name: value for name, value in obj.items() if value}
    for name in ("leaseDuration", "renewDeadline", "retryPeriod"):
        if name in given:
            try:
                given[name] = durations.parse(given[name])
            except ValueError as error:
                hint = "write it as 15s or 1m30s"
                raise InputError(str(error), field=f"leaderElection.{name}", hint=hint) from None
    snake = {re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name): value for name, value in given.items()}
    return LeaderElection(**{name: value for name, value in snake.items() if value})


def _profile(obj: Mapping[str, Any], path: str) -> Profile:
    _log_unused(obj, path)
    plugins = obj.get("plugins") or {}
    for point, switches in plugins.items():
        if point not in _POINTS:
            hint = "plugins are switched as a whole, by multiPoint; score takes weights"
            raise InputError("is not supported", field=f"{path}.plugins.{point}", hint=hint)
        _PLUGIN_SETS.check(switches, f"{path}.plugins.{point}")
    multi, score = plugins.get("multiPoint") or {}, plugins.get("score") or {}
    enabled = multi.get("enabled") or ()
    weights = {
        each["name"]: int(each["weight"]) for each in (*enabled, *(score.get("enabled") or ())) if "weight" in each
    }
    weights |= {each["name"]: 0 for each in score.get("disabled") or ()}
    return Profile(
        scheduler_name=obj.get("schedulerName", SCHEDULER_NAME),
        enabled=tuple(each["name"] for each in enabled),
        disabled=frozenset(each["name"] for each in multi.get("disabled") or ()),
        weights=weights,
        arguments=_arguments(obj.get("pluginConfig") or (), path),
    )


def _arguments(entries: Sequence[Mapping[str, Any]], path: str) -> Mapping[str, Mapping[str, Any]]:
    arguments: dict[str, Mapping[str, Any]] = {}
    for index, entry in enumerate(entries):
        where = f"{path}.pluginConfig[{index}]"
        if entry["name"] in arguments:
            raise InputError(f"repeated config for plugin {entry['name']}", field=where)
        arguments[entry["name"]] = entry.get("args") or {}
    return arguments


def _own_settings(profiles: Sequence[Profile]) -> Mapping[str, Any]:
    """Return our own settings, which hold for the whole scheduler and must therefore agree."""
    given = [profile.arguments[OWN] for profile in profiles if OWN in profile.arguments]
    if any(settings != given[0] for settings in given):
        raise InputError("the settings have to be the same in all profiles", field=f"pluginConfig[{OWN}]")
    own = given[0] if given else {}
    _OWN.check(own, f"pluginConfig[{OWN}].args")
    return own


def _log_unused(obj: Mapping[str, Any], path: str) -> None:
    for name, reason in _UNUSED.items():
        if name in obj:
            log.info("field %s is ignored: %s", f"{path}.{name}" if path else name, reason)


def _check_choice(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        listed = ", ".join(f"`{each}`" for each in known)
        raise InputError(f"`{value}` is not known; known are {listed}", field=name)
