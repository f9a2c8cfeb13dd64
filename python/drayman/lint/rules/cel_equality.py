"""Capacities that are compared for equality."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.lint.facts import name_of
from drayman.lint.looks import value_of
from drayman.lint.rule import Severity, rule
from drayman.lint.rules.cel_comparisons import accessed, is_quantity, shown
from drayman.lint.rules.cel_published import beside_devices
from drayman.quantity import Quantity

if TYPE_CHECKING:
    from drayman.inspection import Comparison
    from drayman.lint.context import Context
    from drayman.lint.drivers import Name
    from drayman.lint.looks import Look
    from drayman.lint.rule import Finding, Findings


@rule(
    "cel-capacity-equality",
    Severity.WARNING,
    summary="a capacity is compared for equality",
    why="""
A capacity is a quantity, which never equals a text or a number. It does equal `quantity("40Gi")`, but only when it is
exactly that much: drivers publish what the hardware reports, such as 40320Mi on a card that is sold with 40 GB. Ask for
at least so much: `compareTo(quantity("39Gi")) >= 0`.
""",
    bad=beside_devices("device.capacity['gpu.example.com'].memory == quantity('40G')"),
    good=beside_devices("device.capacity['gpu.example.com'].memory.compareTo(quantity('39Gi')) >= 0"),
    refines=True,
)
def cel_capacity_equality(context: Context) -> Findings:
    """Find equalities of capacities with literals, and with quantities that no given device has."""
    for look in context.looks:
        for comparison in look.inspection.comparisons:
            found = _equality(look, comparison)
            if found is not None:
                yield found


def _equality(look: Look, comparison: Comparison) -> Finding | None:
    for subject, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
        access = accessed(subject)
        name = name_of(access) if access else None
        if comparison.operator not in ("==", "!=", "in") or access is None or name is None:
            continue
        if name.section != "capacity" or (name not in look.published and _elsewhere(look, name)):
            continue
        span = access.span
        text = look.text[span.start : span.end]
        if other.kind in ("literal", "literals"):
            value = str(other.literals[0].value)
            argument = f'quantity("{value}")' if is_quantity(value) else 'quantity("…")'
            message = f"`{name.name}` is a quantity, and never equals {' or '.join(map(shown, other.literals))}"
            hint = f"write `{text}.compareTo({argument}) >= 0` for at least so much"
            said = look.said(comparison.span)
            return look.finding(comparison.span, message, hint, severity=Severity.ERROR, said=said)
        if other.kind == "quantity" and look.pool and comparison.operator == "==" and is_quantity(other.text or ""):
            sizes_of = (value_of(device, name) for device in look.pool)
            present = {Quantity(size) for size in sizes_of if size is not None and is_quantity(size)}
            if present and Quantity(other.text or "") not in present:
                sizes = ", ".join(f"`{size}`" for size in sorted(present)[:5])
                message = f"no device has exactly `{other.text}` of `{name.name}`"
                return look.finding(comparison.span, message, f"there are {sizes}: write `{text}.compareTo(…) >= 0`")
    return None


def _elsewhere(look: Look, name: Name) -> bool:
    """Whether what is taken for a capacity is an attribute."""
    return name._replace(section="attributes") in look.published
