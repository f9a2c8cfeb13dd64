"""The names of drivers in expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.api.validation import names
from drayman.lint import drivers
from drayman.lint.facts import fact
from drayman.lint.looks import similar
from drayman.lint.rule import Severity, rule
from drayman.lint.rules.cel_syntax import example

if TYPE_CHECKING:
    from drayman.lint.context import Context
    from drayman.lint.looks import Look
    from drayman.lint.rule import Findings

_MAX_LENGTH = 63


@rule(
    "cel-driver-name-invalid",
    Severity.ERROR,
    summary="`device.driver` is compared with what cannot be the name of a driver",
    why="""
The name of a driver is a DNS name of at most 63 characters: lower-case letters, digits, dashes and dots. A name with a
slash is one of an extended resource or of an attribute. The expression is accepted, and selects nothing.
""",
    bad=example("device.driver == 'example.com/gpu'"),
    good=example("device.driver == 'gpu.example.com'"),
)
def cel_driver_name_invalid(context: Context) -> Findings:
    """Check the texts that `device.driver` is compared with."""
    for look in context.looks:
        for comparison in look.inspection.comparisons:
            found = fact(comparison)
            if found is None or found.subject != "device.driver" or comparison.operator not in ("==", "!=", "in"):
                continue
            literals = comparison.right if comparison.right.literals else comparison.left
            for value in found.values:
                if not isinstance(value, str) or not value:
                    continue
                if len(value) <= _MAX_LENGTH and not names.dns_subdomain(value):
                    continue
                meant = _meant(look, value)
                hint = f"did you mean `{meant}`?" if meant else "it is `spec.driver` of the driver's ResourceSlices"
                single = len(found.values) == 1 and meant is not None and comparison.operator != "in"
                fix = {literals.span: f'"{meant}"'} if single else None
                yield look.finding(literals.span, _message(value), hint, fix=fix, safe=False)


def _message(value: str) -> str:
    if "/" in value:
        return f'driver names are DNS names, "{value}" looks like an extended resource name'
    if len(value) > _MAX_LENGTH:
        return f'driver names have at most {_MAX_LENGTH} characters, "{value}" has {len(value)}'
    return f'driver names are DNS names, "{value}" is none'


def _meant(look: Look, value: str) -> str | None:
    """Return the driver that is meant."""
    known = {device.driver for device in look.context.devices} or set(drivers.known())
    if value.lower() in known:
        return value.lower()
    return drivers.meant(value, known) or similar(value, known)
