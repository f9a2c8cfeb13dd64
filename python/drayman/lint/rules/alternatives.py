"""Alternatives of a request that are never tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.lint.context import finding
from drayman.lint.implied import implies
from drayman.lint.rule import Severity, rule

if TYPE_CHECKING:
    from drayman.lint.context import Context
    from drayman.lint.rule import Findings
    from drayman.lint.views import ClaimView, RequestView

_CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{name: train}}
spec:
  devices:
    requests:
    - name: gpu
      firstAvailable:
{}"""
_ANY = "      - {name: any, deviceClassName: gpu.example.com}\n"
_BIG = """\
      - name: big
        deviceClassName: gpu.example.com
        selectors:
        - cel: {expression: "device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('40Gi'))"}
"""


@rule(
    "alternative-unreachable",
    Severity.WARNING,
    summary="an alternative asks for no less than one before it",
    why="""
The scheduler takes the first alternative that can be satisfied. An alternative that every set of devices could satisfy
only where an earlier one is satisfied too is never taken: the order is from the most wanted to the least.
""",
    bad=_CLAIM.format(_ANY + _BIG),
    good=_CLAIM.format(_BIG + _ANY),
)
def alternative_unreachable(context: Context) -> Findings:
    """Compare every alternative with those before it."""
    for claim in context.claims():
        bound = _named_in_constraints(claim)
        by_request: dict[str, list[RequestView]] = {}
        for request in claim.requests():
            if "firstAvailable" in request.path:
                by_request.setdefault(request.base, []).append(request)
        for alternatives in by_request.values():
            for index, later in enumerate(alternatives):
                earlier = next(
                    (one for one in alternatives[:index] if one.name not in bound and _covers(one, later)), None
                )
                if earlier is not None:
                    message = f"`{later.name}` is never taken: where it fits, `{earlier.name}` before it fits too"
                    hint = "put what is wanted most first, and what asks for less behind it"
                    yield finding(later, later.path, message, hint)
                    break


def _named_in_constraints(claim: ClaimView) -> frozenset[str]:
    """Return the alternatives that a constraint makes stricter than they are by themselves."""
    return frozenset(name for one in claim.devices.get("constraints") or () for name in one.get("requests") or ())


def _covers(earlier: RequestView, later: RequestView) -> bool:
    """Whether devices that satisfy the later alternative would satisfy the earlier one."""
    if earlier.device_class != later.device_class or earlier.fields.get("derivedAttributes"):
        return False
    if not implies(_selectors(later), _selectors(earlier)):
        return False
    if not _contains(earlier.fields.get("tolerations"), later.fields.get("tolerations")):
        return False
    if earlier.fields.get("capacity") and earlier.fields.get("capacity") != later.fields.get("capacity"):
        return False
    if earlier.mode == "All":
        return later.mode == "All" and earlier.fields == {**later.fields, "name": earlier.fields.get("name")}
    # One device, where all of them are free; several may be more than all.
    return earlier.count <= (later.count if later.mode == "ExactCount" else 1)


def _selectors(request: RequestView) -> list[str]:
    return [str((one.get("cel") or {}).get("expression", "")) for one in request.fields.get("selectors") or ()]


def _contains(items: list[Any] | None, part: list[Any] | None) -> bool:
    return all(one in (items or ()) for one in part or ())
