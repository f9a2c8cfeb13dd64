"""Fields that the chosen Kubernetes does not have, because their feature gate is off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman import features
from drayman.api import disabled
from drayman.lint.context import finding
from drayman.lint.examples import SLICE
from drayman.lint.rule import Severity, rule
from drayman.quantity import Quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from drayman.lint.context import Context
    from drayman.lint.document import Document
    from drayman.lint.rule import Findings

_GATE = "DRAFractionalCapacityRange"
_ENABLE = "leave the field out, or enable the gate and say so with --feature-gates"
_CLASS = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec:
  selectors: [{cel: {expression: "device.driver == 'gpu.example.com'"}}]
"""
_SLICE = (
    "\n"
    + SLICE
    + """\
  devices:
  - name: gpu-0
    allowMultipleAllocations: true
    capacity:
      share:
        value: "10"
        requestPolicy: {default: "1", validRange: {min: "1", max: "10", step: "1"}}
"""
)


@rule(
    "feature-gate-off",
    Severity.ERROR,
    summary="a field needs a feature gate that is off",
    why="""
The API server drops the field without a word, and the object means something else: a constraint is gone, a toleration
does not count. `--kubernetes-version` and `--feature-gates` say which cluster is meant.
""",
    bad=f"{_CLASS}  extendedResourceName: example.com/gpu\n",
    good=_CLASS,
    kubernetes_version="1.35",
)
def feature_gate_off(context: Context) -> Findings:
    """Find the fields that the server would drop, each where it stands first."""
    for document in context.linted:
        yield from _kind(document, context)
        for pattern, missing in _dropped(document, context):
            path = next(_places(document.object, pattern.split("."), ""), pattern)
            version = context.kubernetes_version
            gates = " and ".join(f"`{gate}`" for gate in missing)
            message = f"the field is dropped: it needs feature gate {gates}, off in Kubernetes {version}"
            hint = _default_since(missing) or _ENABLE
            position = document.position(document.written_path(path), key=True)
            yield finding(document, path, message, hint, position=position)


def _kind(document: Document, context: Context) -> Findings:
    """Yield what is to be said of a kind that is served only with its gate."""
    gate = _KINDS.get(document.kind)
    if document.group == "resource.k8s.io" and gate and gate not in context.gates:
        message = f"{document.kind} needs feature gate `{gate}`, off in Kubernetes {context.kubernetes_version}"
        yield finding(document, "kind", message, _default_since([gate]))


def _dropped(document: Document, context: Context) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the fields that the server would drop, with the gates that they need."""
    yield from disabled.dropped(document.object, context.gates)
    claims = (document.object.get("spec") or {}).get("resourceClaims")
    if (document.group, document.kind) == ("scheduling.k8s.io", "PodGroup") and claims:
        missing = tuple(gate for gate in _GROUP_CLAIMS if gate not in context.gates)
        yield from [("spec.resourceClaims", missing)] if missing else []


_GROUP_CLAIMS = ("DRAWorkloadResourceClaims",)
_KINDS = {"DeviceTaintRule": "DRADeviceTaintRules", "ResourcePoolStatusRequest": "DRAResourcePoolStatus"}


def _default_since(gates: Sequence[str]) -> str | None:
    """Return a hint that says since when the gates are on by themselves, or None when they never are."""
    versions = [version for version in features.KUBERNETES_VERSIONS if set(gates) <= features.defaults(version)]
    return f"it is on by default since Kubernetes {versions[0]}" if versions else None


def _places(value: Any, steps: Sequence[str], path: str) -> Iterator[str]:
    """Yield the paths at which something stands that a pattern of `disabled` means."""
    if not steps:
        yield path
    elif steps[0] == "[]":
        for index, item in enumerate(value if isinstance(value, list) else ()):
            yield from _places(item, steps[1:], f"{path}[{index}]")
    elif steps[0] == "{}":
        for key, item in (value if isinstance(value, dict) else {}).items():
            yield from _places(item, steps[1:], f"{path}[{key}]")
    elif isinstance(value, dict) and value.get(steps[0]) not in (None, [], {}):
        yield from _places(value[steps[0]], steps[1:], f"{path}.{steps[0]}" if path else steps[0])


@rule(
    "fractional-policy-needs-gate",
    Severity.WARNING,
    summary="a request policy has fractions, which are rounded up to whole numbers",
    why=f"""
Without feature gate `{_GATE}`, which 1.37 has off, request policies are computed in whole numbers: with a step of
`100m` a request for `250m` consumes 1. Publish the capacity in smaller units, such as thousandths, instead.
""",
    bad=_SLICE.replace('"1", max: "10", step: "1"', '100m, max: "10", step: 100m').replace(
        'default: "1"', "default: 100m"
    ),
    good=_SLICE,
)
def fractional_policy_needs_gate(context: Context) -> Findings:
    """Find fractions in the policies of capacities; one a device."""
    if _GATE in context.gates:
        return
    for device in context.devices:
        for name, capacity in (device.fields.get("capacity") or {}).items():
            policy = capacity.get("requestPolicy") or {}
            found = next(((path, text) for path, text in _values(policy) if _is_fraction(text)), None)
            if found is not None:
                path = f"{device.path}.capacity[{name}].requestPolicy.{found[0]}"
                message = f"`{found[1]}` counts as a whole number: fractions need feature gate `{_GATE}`, which is off"
                hint = f"publish `{name}` in smaller units, or enable the gate"
                yield finding(device, path, message, hint)
                break


def _values(policy: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in ("min", "max", "step"):
        value = (policy.get("validRange") or {}).get(name)
        if value is not None:
            yield f"validRange.{name}", value
    yield from ((f"validValues[{index}]", value) for index, value in enumerate(policy.get("validValues") or ()))
    if policy.get("default") is not None:
        yield "default", policy["default"]


def _is_fraction(text: str) -> bool:
    value = Quantity(text)
    return Quantity(value.value()) != value
