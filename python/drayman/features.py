"""Feature gates of Kubernetes that matter to DRA: stage and default by version, and the rules for changing them.

Source: upstream's `pkg/features/kube_features.go` of Kubernetes 1.37.2 and `component-base/featuregate`, whose messages
are kept. A set of gates is a frozenset of the names that are on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from drayman.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

KUBERNETES_VERSIONS = ("1.34", "1.35", "1.36", "1.37")
"""Versions whose gates are known."""

LATEST = KUBERNETES_VERSIONS[-1]

ALPHA, BETA, GA = "Alpha", "Beta", "GA"


@dataclass(frozen=True, slots=True)
class Stage:
    """State of a gate since a version of Kubernetes; a locked gate cannot be changed."""

    since: str
    stage: str
    default: bool
    locked: bool = False


@dataclass(frozen=True, slots=True)
class Gate:
    """A feature gate, its history in order of versions, and the gates without which it cannot be on."""

    name: str
    history: tuple[Stage, ...]
    requires: tuple[str, ...] = ()

    def at(self, kubernetes_version: str) -> Stage | None:
        """Return the state in `kubernetes_version`, or None when that version does not have the gate yet."""
        version = _number(kubernetes_version)
        stages = [stage for stage in self.history if _number(stage.since) <= version]
        return stages[-1] if stages else None


def parse(text: str) -> dict[str, bool]:
    """Parse `A=true,B=false`, the form of `--feature-gates`; later entries win.

    Raises :class:`InputError` with upstream's text.
    """
    gates = {}
    for entry in text.split(","):
        if not entry:
            continue
        name, equals, value = (part.strip() for part in entry.partition("="))
        if not equals:
            raise InputError(f"missing bool value for {name}")
        if value not in _BOOLEANS:
            reason = f'strconv.ParseBool: parsing "{value}": invalid syntax'
            raise InputError(f"invalid value of {name}={value}, err: {reason}")
        gates[name] = _BOOLEANS[value]
    return gates


def defaults(kubernetes_version: str = LATEST) -> frozenset[str]:
    """Return the gates that are on in `kubernetes_version` without being asked for."""
    _check_version(kubernetes_version)
    stages = ((name, gate.at(kubernetes_version)) for name, gate in GATES.items())
    return frozenset(name for name, stage in stages if stage is not None and stage.default)


def resolve(
    features: Iterable[str] | None = None,
    *,
    feature_gates: Mapping[str, bool] | str | None = None,
    kubernetes_version: str = LATEST,
) -> frozenset[str]:
    """Return the gates that are on.

    `features` is the exact set; two gates joined by `+` are both meant. `feature_gates` is laid over the defaults of
    `kubernetes_version`, under upstream's rules: unknown gates, changes of locked gates and gates without what they
    require are refused with upstream's text. Giving both is an error. Raises :class:`InputError`.
    """
    _check_version(kubernetes_version)
    if features is not None:
        if feature_gates is not None:
            raise InputError("`features` and `feature_gates` exclude each other", hint="`features` is the exact set")
        return _exact(features)
    changes = parse(feature_gates) if isinstance(feature_gates, str) else dict(feature_gates or {})
    changes = _expand_groups(changes, kubernetes_version)
    _check_changes(changes, kubernetes_version)
    enabled = frozenset(
        name for name, on in (dict.fromkeys(defaults(kubernetes_version), True) | changes).items() if on
    )
    _check_requirements(enabled)
    return enabled


def _exact(features: Iterable[str]) -> frozenset[str]:
    if isinstance(features, str):
        hint = "for `A=true,B=false` use `feature_gates`"
        raise InputError("`features` must be a collection of gate names, not a string", hint=hint)
    names = frozenset(name for feature in features for name in feature.split("+"))
    for name in sorted(names):
        if name not in GATES:
            raise InputError(f"unrecognized feature gate: {name}")
    return names


def _expand_groups(changes: Mapping[str, bool], kubernetes_version: str) -> dict[str, bool]:
    """Replace `AllAlpha` and `AllBeta` by the gates they stand for; a gate that is named itself wins."""
    expanded: dict[str, bool] = {}
    for group, stage in (("AllAlpha", ALPHA), ("AllBeta", BETA)):
        if group in changes:
            states = ((name, gate.at(kubernetes_version)) for name, gate in GATES.items())
            expanded |= {name: changes[group] for name, state in states if state is not None and state.stage == stage}
    return expanded | {name: on for name, on in changes.items() if name not in {"AllAlpha", "AllBeta"}}


def _check_changes(changes: Mapping[str, bool], kubernetes_version: str) -> None:
    for name, value in sorted(changes.items()):
        if name not in GATES:
            raise InputError(f"unrecognized feature gate: {name}")
        stage = GATES[name].at(kubernetes_version)
        if stage is None:
            place = f"emulated version {kubernetes_version}, min compatibility version {_previous(kubernetes_version)}"
            raise InputError(f"cannot set feature gate {name} to {_text(value)}, feature is PreAlpha at {place}")
        if stage.locked and value != stage.default:
            locked = _text(stage.default)
            raise InputError(f"cannot set feature gate {name} to {_text(value)}, feature is locked to {locked}")


def _check_requirements(enabled: frozenset[str]) -> None:
    errors = []
    for name in sorted(enabled):
        missing = sorted(set(GATES[name].requires) - enabled)
        if missing:
            errors.append(f"{name} is enabled, but depends on features that are disabled: [{' '.join(missing)}]")
    if errors:
        raise InputError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")


def _check_version(kubernetes_version: str) -> None:
    if kubernetes_version not in KUBERNETES_VERSIONS:
        known = ", ".join(KUBERNETES_VERSIONS)
        raise InputError(f"Kubernetes version `{kubernetes_version}` is not known; known are {known}")


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _previous(version: str) -> str:
    major, minor = _number(version)
    return f"{major}.{minor - 1}"


def _text(value: bool) -> str:
    return "true" if value else "false"


_BOOLEANS = dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "FALSE", "false", "False"), False
)

_DRA = "DynamicResourceAllocation"

_GATES = (
    Gate(_DRA, (Stage("1.32", BETA, False), Stage("1.34", GA, True), Stage("1.35", GA, True, locked=True))),
    Gate("DRAAdminAccess", (Stage("1.34", BETA, True), Stage("1.36", GA, True, locked=True)), (_DRA,)),
    Gate("DRAConsumableCapacity", (Stage("1.34", ALPHA, False), Stage("1.36", BETA, True)), (_DRA,)),
    Gate("DRADerivedAttributes", (Stage("1.37", ALPHA, False),), (_DRA,)),
    Gate(
        "DRADeviceBindingConditions",
        (Stage("1.34", ALPHA, False), Stage("1.36", BETA, True)),
        (_DRA, "DRAResourceClaimDeviceStatus"),
    ),
    Gate("DRADeviceCompatibilityGroups", (Stage("1.37", ALPHA, False),), (_DRA, "DRAPartitionableDevices")),
    Gate(
        "DRADeviceTaintRules",
        (Stage("1.35", ALPHA, False), Stage("1.36", BETA, False), Stage("1.37", GA, True)),
        ("DRADeviceTaints",),
    ),
    Gate("DRADeviceTaints", (Stage("1.33", ALPHA, False), Stage("1.36", BETA, True), Stage("1.37", GA, True)), (_DRA,)),
    Gate(
        "DRAExtendedResource",
        (Stage("1.34", ALPHA, False), Stage("1.36", BETA, True), Stage("1.37", GA, True, locked=True)),
        (_DRA,),
    ),
    # On by default only where the minimum compatibility version is raised to 1.37, which no server does by itself.
    Gate("DRAFractionalCapacityRange", (Stage("1.37", BETA, False),), ("DRAConsumableCapacity",)),
    Gate("DRAListTypeAttributes", (Stage("1.36", ALPHA, False),), (_DRA,)),
    Gate("DRANodeAllocatableResources", (Stage("1.36", ALPHA, False),), (_DRA,)),
    Gate("DRAOptionalNodeOperations", (Stage("1.37", ALPHA, False),), (_DRA, "NodeDeclaredFeatures")),
    Gate("DRAPartitionableDevices", (Stage("1.33", ALPHA, False), Stage("1.36", BETA, True)), (_DRA,)),
    Gate(
        "DRAPartitionableDevicesType",
        (Stage("1.37", ALPHA, False),),
        (_DRA, "DRAPartitionableDevices", "DRAResourcePoolStatus"),
    ),
    Gate(
        "DRAPrioritizedList",
        (Stage("1.34", BETA, True), Stage("1.36", GA, True), Stage("1.37", GA, True, locked=True)),
        (_DRA,),
    ),
    Gate("DRAResourceClaimDeviceStatus", (Stage("1.33", BETA, True), Stage("1.37", GA, True, locked=True))),
    Gate(
        "DRAResourceClaimGranularStatusAuthorization",
        (Stage("1.36", BETA, True),),
        (_DRA, "DRAResourceClaimDeviceStatus"),
    ),
    Gate("DRAResourcePoolStatus", (Stage("1.36", ALPHA, False),), (_DRA,)),
    Gate("DRASchedulerFilterTimeout", (Stage("1.34", BETA, True),), (_DRA,)),
    Gate(
        "DRAWorkloadResourceClaims",
        (Stage("1.36", ALPHA, False), Stage("1.37", BETA, False)),
        (_DRA, "GenericWorkload"),
    ),
    Gate("CompositePodGroup", (Stage("1.37", ALPHA, False),), ("GenericWorkload", "TopologyAwareWorkloadScheduling")),
    Gate("GenericWorkload", (Stage("1.35", ALPHA, False), Stage("1.37", BETA, False))),
    Gate(
        "NodeDeclaredFeatures",
        (Stage("1.35", ALPHA, False), Stage("1.36", BETA, True), Stage("1.37", GA, True, locked=True)),
    ),
    Gate("NominatedNodeNameForExpectation", (Stage("1.34", ALPHA, False), Stage("1.35", BETA, True))),
    Gate("PodGroupPreemptionPolicy", (Stage("1.37", ALPHA, False),), ("GenericWorkload",)),
    Gate("PodLevelResources", (Stage("1.32", ALPHA, False), Stage("1.34", BETA, True))),
    Gate("ResourceHealthStatus", (Stage("1.31", ALPHA, False), Stage("1.36", BETA, True)), (_DRA,)),
    Gate("ResourceHealthStatusMessage", (Stage("1.36", BETA, True),), ("ResourceHealthStatus",)),
    Gate("SchedulerAsyncAPICalls", (Stage("1.34", BETA, False),)),
    Gate("SchedulerAsyncPreemption", (Stage("1.32", ALPHA, False), Stage("1.33", BETA, True))),
    Gate("SchedulerPopFromBackoffQ", (Stage("1.33", BETA, True),)),
    Gate("SchedulerPreQueueingHints", (Stage("1.37", ALPHA, False),)),
    Gate("TaintTolerationComparisonOperators", (Stage("1.35", ALPHA, False),)),
    Gate("TopologyAwareWorkloadScheduling", (Stage("1.36", ALPHA, False),), ("GenericWorkload",)),
    Gate("WorkloadWithJob", (Stage("1.36", ALPHA, False),), ("GenericWorkload",)),
)

GATES: Mapping[str, Gate] = {gate.name: gate for gate in _GATES}
"""Every gate that is known, by name."""
