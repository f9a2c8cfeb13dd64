"""How many devices a claim asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.lint import edits
from drayman.lint.context import finding
from drayman.lint.examples import CLAIM
from drayman.lint.rule import Severity, rule

if TYPE_CHECKING:
    from drayman.lint.context import Context
    from drayman.lint.rule import Findings
    from drayman.lint.views import ClaimView

_MAX_RESULTS = 32
"""How many devices one claim can be given (upstream: `AllocationResultsMaxSize`)."""

_CLAIM = (
    "\n"
    + CLAIM
    + """\
      exactly:
        deviceClassName: gpu.example.com
        allocationMode: All
"""
)


@rule(
    "count-with-all",
    Severity.ERROR,
    summary="a request for all devices has a count",
    why="""
`allocationMode: All` asks for every device of a node that matches, however many there are; the API server refuses a
count beside it. For a number of devices leave the mode out.
""",
    bad=f"{_CLAIM}        count: 8\n",
    good=_CLAIM,
    refines=True,
)
def count_with_all(context: Context) -> Findings:
    """Find counts of requests with mode All."""
    for request in context.requests():
        if request.mode == "All" and request.fields.get("count"):
            path, count = f"{request.path}.count", request.fields["count"]
            message = f"{path}: Invalid value: {count}: must not be specified when allocationMode is 'All'"
            fix = edits.remove(request.claim.document, request.claim.document.written_path(path))
            hint = f"drop `count`, or write `count: {count}` without `allocationMode: All`"
            yield finding(request, path, message, hint, fix=fix)


@rule(
    "count-over-limit",
    Severity.ERROR,
    summary="a claim asks for more devices than it can be given",
    why="""
A claim is given at most 32 devices, of all its requests together. The API server accepts a larger count, but the claim
can be allocated on no node. More devices need several claims.
""",
    bad=_CLAIM.replace("allocationMode: All", "count: 33"),
    good=_CLAIM.replace("allocationMode: All", "count: 32"),
)
def count_over_limit(context: Context) -> Findings:
    """Add up the least that each claim asks for; an alternative above the limit can never be taken."""
    for claim in context.claims():
        requests = list(claim.requests())
        too_large = [one for one in requests if one.mode == "ExactCount" and one.count > _MAX_RESULTS]
        for request in too_large:
            path = f"{request.path}.count"
            if not request.fields.get("adminAccess"):
                message = f"{request.count} devices are more than the {_MAX_RESULTS} that one claim can be given"
                yield finding(request, path, message, "ask for the rest in other claims")
        least = _least(claim)
        if not too_large and least > _MAX_RESULTS:
            message = f"the requests ask for {least} devices, more than the {_MAX_RESULTS} that one claim can be given"
            yield finding(claim, f"{claim.path}.devices.requests", message, "ask for some of them in other claims")


def _least(claim: ClaimView) -> int:
    """Return the smallest number of devices with which the claim could be satisfied."""
    by_request: dict[str, list[int]] = {}
    for request in claim.requests():
        by_request.setdefault(request.base, []).append(1 if request.mode == "All" else request.count)
    return sum(min(counts) for counts in by_request.values())
