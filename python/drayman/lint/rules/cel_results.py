"""What becomes of a selector on the devices: nothing, always the same, or an error."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from drayman.api.validation import names
from drayman.lint.facts import name_of
from drayman.lint.looks import NO_VALUE, value_of
from drayman.lint.rule import Severity, rule
from drayman.lint.rules import cel_comparisons, cel_drivers, cel_equality, cel_lookups, cel_published, cel_syntax
from drayman.lint.rules.cel_published import beside_devices
from drayman.lint.rules.cel_syntax import example

if TYPE_CHECKING:
    from drayman.errors import CELRuntimeError
    from drayman.inspection import Comparison
    from drayman.lint.context import Context
    from drayman.lint.facts import Fact
    from drayman.lint.looks import Look
    from drayman.lint.rule import Findings


_TOLD_ELSEWHERE = re.compile(r"could not be converted to bool|^attribute ")
"""Errors that other rules are about; the last is a fault of the ResourceSlice."""


@rule(
    "cel-result-not-bool",
    Severity.ERROR,
    summary="a selector gives a value that is no truth value",
    why="""
The type of an attribute is not known when an expression is compiled, so that an attribute alone passes for a selector.
When it is a text, number, version or list, the evaluation is an error, which ends the scheduling attempt.
""",
    bad=beside_devices("true ? device.attributes['gpu.example.com'].model : ''"),
    good=beside_devices("device.attributes['gpu.example.com'].model != ''"),
)
def cel_result_not_bool(context: Context) -> Findings:
    """Find selectors with such a result on a device, or that are an attribute of such a type."""
    for look in context.looks:
        failing = [device for device, error in look.failures if "could not be converted to bool" in str(error)]
        if failing:
            message = f"the result is no truth value on `{failing[0].name}`"
            if len(failing) > 1:
                message = f"the result is no truth value on {len(failing)} devices, such as `{failing[0].name}`"
            yield look.finding(None, message, "compare it with a value")
            continue
        for access in look.inspection.accesses if look.view.kind == "selector" and not look.refusal else ():
            name = name_of(access)
            is_all = look.text[access.span.start : access.span.end] == look.text.strip()
            if name is None or not is_all or access.form not in ("field", "index"):
                continue
            types = look.types(name)
            if not look.devices and types and "bool" not in types and cel_lookups.bare_name(look, access) is None:
                message = f"the result is a {'/'.join(sorted(types))}, not a truth value"
                yield look.finding(access.span, message, "compare it with a value")


@rule(
    "cel-always-same",
    Severity.WARNING,
    summary="a selector is true or false whatever the device is",
    why="""
A part that asks nothing of the device decides: `… || true` is true of every device, `… && 1 > 2` of none. A selector
that is to be true of all devices is plain `true`, or left out.
""",
    bad=beside_devices("device.driver == 'gpu.example.com' || 2 > 1"),
    good=beside_devices("device.driver == 'gpu.example.com'"),
)
def cel_always_same(context: Context) -> Findings:
    """Find selectors whose result needs no device."""
    for look in context.looks:
        inspection = look.inspection
        # Who writes what has no device in it, such as `true`, means it.
        plain = (inspection.always and "device" not in look.text) or look.text.strip() == "false"
        if inspection.always is None or plain or look.refusal or look.view.kind != "selector":
            continue
        deciding = [one for one in inspection.constants if one.value is inspection.always]
        result = "true of every device" if inspection.always else "false of every device"
        yield look.finding(deciding[0].span if deciding else None, f"the selector is {result}")


@rule(
    "cel-contradiction",
    Severity.WARNING,
    summary="conditions that cannot hold together",
    why="""
What a device is asked for is the whole: the selectors of the class, and all of those of the request. Two values for one
attribute joined by `&&` select nothing; one of several values is `||`, or `in ["a", "b"]`.
""",
    bad=example("device.driver == 'gpu.example.com' && device.driver == 'gpu.nvidia.com'"),
    good=example("device.driver == 'gpu.example.com' || device.driver == 'gpu.nvidia.com'"),
)
def cel_contradiction(context: Context) -> Findings:
    """Compare what each expression asks of one thing with all that is asked of it."""
    for look in context.looks:
        if look.refusal:
            continue
        earlier: dict[str, list[tuple[Fact, bool]]] = {}
        for place, fact in enumerate(look.facts):
            is_here = place >= len(look.facts_before)
            same = earlier.setdefault(fact.subject, [])
            clash = next((one for one in same if _clash(one[0], fact)), None) if is_here else None
            if clash is not None and not _is_no_driver(fact):
                yield look.finding(fact.comparison.span, *_contradiction(*clash, fact))
            same.append((fact, is_here))


def _contradiction(first: Fact, is_here: bool, second: Fact) -> tuple[str, str | None]:
    """Return message and hint; the first is of the class or an earlier selector unless it `is_here`."""
    hint = None
    if first.comparison.operator == second.comparison.operator == "==" and is_here:
        values = ", ".join(_literal(one.values[0]) for one in (first, second))
        hint = f"for either: `{first.subject} in [{values}]`"
    where = "above" if is_here else "of the class or an earlier selector"
    return f"`{_told(second)}` cannot hold together with `{_told(first)}` {where}", hint


def _is_no_driver(fact: Fact) -> bool:
    """Whether a fact is about a name that no driver has, of which another rule tells."""
    return fact.subject == "device.driver" and any(names.dns_subdomain(str(value)) for value in fact.values)


def _clash(first: Fact, second: Fact) -> bool:
    for one, other in ((first, second), (second, first)):
        operator = one.comparison.operator
        if operator in ("==", "in") and all(_excludes(other, value) for value in one.values):
            return True
    return _is_empty_range(first, second)


def _excludes(fact: Fact, value: object) -> bool:
    """Whether a fact is false when the thing has this value."""
    operator = _operator(fact.comparison, fact)
    if operator in ("==", "in"):
        return all(type(one) is type(value) and one != value for one in fact.values)
    if operator == "!=":
        return type(fact.values[0]) is type(value) and fact.values[0] == value
    return _is_number(value) and _is_number(fact.values[0]) and not _holds(value, operator, fact.values[0])


def _is_empty_range(first: Fact, second: Fact) -> bool:
    above, below = first, second
    if _operator(above.comparison, above) not in (">", ">="):
        above, below = second, first
    lower, upper = above.values[0], below.values[0]
    operators = _operator(above.comparison, above), _operator(below.comparison, below)
    if (
        operators[0] not in (">", ">=")
        or operators[1] not in ("<", "<=")
        or not (_is_number(lower) and _is_number(upper))
    ):
        return False
    return _holds(lower, ">", upper) or (lower == upper and operators != (">=", "<="))


def _operator(comparison: Comparison, fact: Fact) -> str:
    """Return the operator as it is when the literal stands on the right."""
    if comparison.left.literals and comparison.operator != "in":
        return {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(comparison.operator, comparison.operator)
    return comparison.operator


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _holds(left: object, operator: str, right: object) -> bool:
    assert isinstance(left, (int, float))
    assert isinstance(right, (int, float))
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[operator]


def _told(fact: Fact) -> str:
    operator = _operator(fact.comparison, fact)
    values = ", ".join(_literal(value) for value in fact.values)
    return f"{fact.subject} {operator} {f'[{values}]' if operator == 'in' else values}"


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


@rule(
    "cel-matches-no-device",
    Severity.WARNING,
    summary="the selectors of a request leave none of the devices of its class",
    why="""
The class selects devices, and the request none of them: pods with the claim wait for other devices. The rule looks at
the ResourceSlices among the files and in `--with`. Alternatives are left alone: they are there to be passed over.
""",
    bad=beside_devices("device.attributes['gpu.example.com'].model == 'H100'"),
    good=beside_devices("device.attributes['gpu.example.com'].model == 'A100'"),
)
def cel_matches_no_device(context: Context) -> Findings:
    """Find the selector that rules out the last device, and the part of it that no device fulfils."""
    told = functools.cache(lambda: _told_by_others(context))
    for look in context.looks:
        answers = look.answers
        alternative = look.view.request is None or "firstAvailable" in look.view.request.path
        if alternative or not answers or any(answer is not False for answer in answers.values()):
            continue
        if look.inspection.always is False or (id(look.view.document), look.view.path) in told():
            continue
        of_class = f"of class `{look.class_name}`"
        message = f"the selector selects none of the {len(answers)} devices {of_class}"
        if len(answers) == 1:
            message = f"the selector does not select the one device {of_class}"
        for comparison in _decisive(look):
            text = look.text[comparison.span.start : comparison.span.end]
            yield look.finding(comparison.span, f"{message}: on no device `{text}`", _values(look, comparison))
            break
        else:
            yield look.finding(None, message)


def _decisive(look: Look) -> list[Comparison]:
    """Return the comparisons that have to hold, and hold on no device."""
    found = []
    for comparison in look.inspection.comparisons:
        if comparison.conjunction != 0:
            continue
        answers = look.context.answers(look.text[comparison.span.start : comparison.span.end], look.devices)
        if answers and True not in answers:
            found.append(comparison)
    return found


def _values(look: Look, comparison: Comparison) -> str | None:
    """Return a hint at the values that there are."""
    access = comparison.left.access or comparison.right.access
    for side in (comparison.left, comparison.right):
        if side.member is not None:
            access = side.member.access
    name = name_of(access) if access else None
    if name is None:
        return None
    found = {text for device in look.devices if (text := value_of(device, name)) is not None}
    values = sorted(found, key=lambda text: (len(text) if text.isdecimal() else 0, text))
    listed = ", ".join(f"`{value}`" for value in values[:6]) + (", …" if len(values) > 6 else "")
    return f"`{name.name}` is {listed}" if values else None


@rule(
    "cel-evaluation-fails",
    Severity.ERROR,
    summary="a selector fails on devices on which it is evaluated",
    why="""
An error in a selector is no answer: it ends the scheduling attempt of the pod on all nodes. The rule evaluates
selectors on the ResourceSlices among the files and in `--with`, and speaks up where no other rule tells the reason.
""",
    bad=beside_devices("device.attributes['gpu.example.com'].model.matches(device.driver + '[')"),
    good=beside_devices("device.attributes['gpu.example.com'].model.matches('^A')"),
)
def cel_evaluation_fails(context: Context) -> Findings:
    """Report the first error that no other rule explains."""
    told = functools.cache(lambda: _told_by_others(context))
    for look in context.looks:
        left = [(device, str(error)) for device, error in look.failures if not _is_told(look, error)]
        if left and (id(look.view.document), look.view.path) not in told():
            device, text = left[0]
            more = f" and {len(left) - 1} more" if len(left) > 1 else ""
            yield look.finding(None, f"the evaluation fails on `{device.name}`{more}: {text}")


def _is_told(look: Look, error: CELRuntimeError) -> bool:
    """Whether another rule is about an error."""
    if NO_VALUE in str(error):
        return any(not access.guarded for access in look.inspection.accesses if access.form.startswith("optional"))
    return _TOLD_ELSEWHERE.search(str(error)) is not None or look.missing_key(error) in _keys(look)


def _keys(look: Look) -> set[str]:
    """Return the names whose absence other rules are about."""
    names = {access.name.text for access in look.inspection.accesses if access.name is not None}
    return names | {member.name for member in look.inspection.members}


def _told_by_others(context: Context) -> set[tuple[int, str]]:
    """Return the documents and paths of expressions about which another rule tells why they fail or select nothing."""
    rules = (
        cel_contradiction,
        cel_equality.cel_capacity_equality,
        cel_comparisons.cel_compared_by_operator,
        cel_comparisons.cel_type_mismatch,
        cel_comparisons.cel_version_compared_as_string,
        cel_drivers.cel_driver_name_invalid,
        cel_published.cel_unknown_attribute,
        cel_published.cel_unknown_domain,
        cel_syntax.cel_invalid_literal,
    )
    return {(id(found.document), found.path) for one in rules for found in one.check(context)}
