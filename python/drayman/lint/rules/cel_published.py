"""Whether the attributes and capacities that expressions look up are published, by all devices or by some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.inspection import Span
from drayman.lint import drivers
from drayman.lint.drivers import Name
from drayman.lint.examples import CLAIM, SLICE
from drayman.lint.facts import name_of, written
from drayman.lint.looks import similar
from drayman.lint.rule import Severity, rule
from drayman.lint.rules.cel_lookups import bare_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from drayman.inspection import Access
    from drayman.lint.context import Context
    from drayman.lint.looks import Look
    from drayman.lint.rule import Finding, Findings

_NEAR_DOMAIN = 0.9
"""How alike domains have to be: many end alike, and differ only in what they begin with."""

_SELECTING = (
    "\n"
    + CLAIM
    + """\
      exactly:
        deviceClassName: gpu
        selectors:
        - cel:
            expression: |-
              EXPRESSION
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.example.com'"}}]}
"""
)
DEVICES = (
    "---\n"
    + SLICE
    + """\
  devices:
  - name: gpu-0
    attributes:
      model: {string: A100}
      ecc: {bool: true}
      driverVersion: {version: 550.54.15}
    capacity: {memory: {value: 40Gi}}
  - name: gpu-1
    attributes: {model: {string: T4}, driverVersion: {version: 550.54.15}}
    capacity: {memory: {value: 16Gi}}
"""
)
"""Two devices, of which one lacks an attribute, for examples of rules."""


def beside_devices(expression: str) -> str:
    """Return a claim with a selector, its class, and the devices that it is about, for examples of rules."""
    return _SELECTING.replace("EXPRESSION", expression) + DEVICES


@rule(
    "cel-unknown-domain",
    Severity.ERROR,
    summary="no device has attributes or capacities of the domain that is looked up",
    why="""
An unknown domain is an empty map: whatever is looked up in it is missing, and the evaluation fails. Names without a
domain belong to that of the driver. The rule compares with the ResourceSlices among the files and in `--with`; without
any, with the drivers that drayman knows, and then only names that are nearly right are found.
""",
    bad=beside_devices("device.attributes['gpu.exmaple.com'].model == 'A100'"),
    good=beside_devices("device.attributes['gpu.example.com'].model == 'A100'"),
)
def cel_unknown_domain(context: Context) -> Findings:
    """Find domains of which nothing is published, where that makes the evaluation fail, or a similar one exists."""
    for look in context.looks:
        seen = set()
        for access, name in _lookups(look):
            key = access.domain
            if key is None or key.text in look.domains or key.text in seen:
                continue
            near = look.domain_meant(key.text) or similar(key.text, _domains(look), _NEAR_DOMAIN)
            if look.pool:
                if not (near or look.lacks(name)):
                    continue
            elif key.text in drivers.known():
                if access.guarded or len(look.kinds) != 1:
                    continue
                near = None
            elif near is None or f".{key.text}".endswith(".example.com"):
                continue
            seen.add(key.text)
            of_class = f" of class `{look.class_name}`" if look.view.request else ""
            message = f"no device{of_class} has {access.section} of domain `{key.text}`"
            hint = f"did you mean `{near}`?" if near else _listed("domains", sorted(_domains(look)))
            fix = {key.span: f"'{near}'"} if near and look.text[key.span.start] in "'\"" else None
            yield look.finding(
                key.span, message, hint, fix=fix, safe=False, severity=None if look.pool else Severity.WARNING
            )


def _domains(look: Look) -> frozenset[str]:
    return look.domains if look.pool else look.domains | frozenset(drivers.known())


@rule(
    "cel-unknown-attribute",
    Severity.ERROR,
    summary="no device has the attribute or capacity that is looked up",
    why="""
A look-up of what a device does not have is an error, which ends the scheduling attempt of the pod on all nodes. The
rule compares with the ResourceSlices among the files and in `--with`; without any, with what drayman knows of public
drivers.
""",
    bad=beside_devices("device.attributes['gpu.example.com'].modle == 'A100'"),
    good=beside_devices("device.attributes['gpu.example.com'].model == 'A100'"),
    refines=True,
)
def cel_unknown_attribute(context: Context) -> Findings:
    """Find names that nothing has, where that makes the evaluation fail, or a similar one exists."""
    for look in context.looks:
        seen = set()
        for access, name in _lookups(look):
            if name in seen or name in look.published:
                continue
            found = _unknown(look, access, name) if look.pool else _not_in_catalogue(look, access, name)
            if found is not None:
                seen.add(name)
                yield found


def _unknown(look: Look, access: Access, name: Name) -> Finding | None:
    if name.domain not in look.domains:
        return None
    near, hint = _near(look.published, name)
    failing = look.lacks(name)
    refused = look.refusal is not None and hint is not None and not access.guarded
    if not (failing or near or refused):
        return None
    hint = hint or _listed("there are", _names_beside(look.published, name))
    whose = "of the class " if look.view.request else ""
    message = f"{_what(name)} `{name.name}` is on none of the {_count(len(look.pool), whose)}"
    fix = {access.name.span: near} if near and access.name and access.form in ("field", "has") else None
    severity = None if failing or refused else Severity.WARNING
    return look.finding(access.span, message, hint, fix=fix, safe=False, severity=severity, said=look.said(access.span))


def _not_in_catalogue(look: Look, access: Access, name: Name) -> Finding | None:
    """Compare with the devices of the class; of another class, with all that the driver publishes."""
    driver = drivers.known().get(name.domain)
    if driver is None or (look.kinds and look.kinds[0] not in driver.kinds.values()):
        return None
    if name.name in driver.withdrawn:
        message = f"{driver.name} does not publish {_what(name)} `{name.name}`"
        return look.finding(access.span, message, driver.withdrawn[name.name], severity=Severity.WARNING)
    others = sorted(kind.name for kind in driver.kinds.values() if name in kind.published)
    if others and len(look.kinds) == 1:
        kind = look.kinds[0].name
        message = f"{_what(name)} `{name.name}` is on devices of type {_joined(others)}, not on those of type `{kind}`"
        return look.finding(access.span, message, severity=Severity.WARNING)
    published = [one for kind in driver.kinds.values() for one in kind.published]
    _, meant = _near(published, name)
    if others or (meant is None and name.domain.endswith(".example.com")):
        return None
    message = f"{driver.name} does not publish {_what(name)} `{name.name}`"
    # Where nothing is like it, it may be new.
    return look.finding(access.span, message, meant, severity=Severity.WARNING if meant else Severity.INFO)


def _near(published: Collection[Name], name: Name) -> tuple[str | None, str | None]:
    """Return the similar name in the same place, and a hint at that or at the same name elsewhere."""
    elsewhere = sorted(one for one in published if one.name == name.name)
    if elsewhere:
        return None, f"did you mean `{written(elsewhere[0])}`?"
    near = similar(name.name, _names_beside(published, name))
    return near, f"did you mean `{near}`?" if near else None


def _names_beside(published: Collection[Name], name: Name) -> list[str]:
    return sorted({one.name for one in published if (one.section, one.domain) == (name.section, name.domain)})


@rule(
    "cel-unguarded-attribute",
    Severity.WARNING,
    summary="an attribute or capacity is looked up that only some devices have",
    why="""
A look-up of what a device does not have is an error, which ends the scheduling attempt of the pod on all nodes, also
where other devices would do. `has()` before the look-up, or `.?name.orValue(…)` in its place, makes it a plain no.
The rule looks at the ResourceSlices among the files and in `--with`; without any, at what is known of public drivers.
""",
    bad=beside_devices("device.attributes['gpu.example.com'].ecc"),
    good=beside_devices("device.attributes['gpu.example.com'].?ecc.orValue(false)"),
)
def cel_unguarded_attribute(context: Context) -> Findings:
    """Find look-ups that fail on some of the devices, or can fail by what is known of the driver."""
    for look in context.looks:
        seen = set()
        for access, name in _lookups(look):
            if access.guarded or name in seen or name not in look.published:
                continue
            message = _some_lack(look, name) if look.pool else _optional(look, name)
            if message is not None:
                seen.add(name)
                hint = f"write `has({written(name)}) && …` or `{_optional_form(name)}.orValue(…)`"
                fix = _guard(look, access, name)
                yield look.finding(access.span, f"{message}; guard with has() or .?", hint, fix=fix)


def _guard(look: Look, access: Access, name: Name) -> dict[Span, str] | None:
    """Return the edit that puts a guard before the comparison, where that has to hold for the whole to be true.

    Devices without the attribute are left out then, as they should; but who asks for `!=` may want them.
    """
    guard = look.text[access.span.start : access.span.end] if access.form == "field" else written(name)
    for comparison in look.inspection.comparisons:
        sides = (comparison.left, comparison.right)
        about = access in [side.access or (side.member.access if side.member else None) for side in sides]
        if about and comparison.conjunction == 0 and comparison.operator != "!=" and not guard.endswith("]"):
            at = comparison.span
            return {Span(at.start, at.start, at.line, at.column, at.line, at.column): f"has({guard}) && "}
    return None


def _some_lack(look: Look, name: Name) -> str | None:
    failing = look.lacks(name)
    if not failing:
        return None
    having = sum(name in look.published_by(device) for device in look.devices)
    total = len(look.devices)
    whose = "devices of the class" if look.view.request else "devices"
    return f"{name.name} missing on {total - having} of {total} {whose}, such as `{failing[0].name}`"


def _optional(look: Look, name: Name) -> str | None:
    found = [kind.published[name] for kind in look.kinds if name in kind.published]
    if len(look.kinds) != 1 or not found or not found[0].optional or look.view.request is None:
        return None
    return f"{name.name} is missing on some devices of class `{look.class_name}`"


def _optional_form(name: Name) -> str:
    return written(name).removesuffix(f".{name.name}") + f".?{name.name}"


def _lookups(look: Look) -> Iterator[tuple[Access, Name]]:
    """Yield what is looked up by domain and name."""
    for access in look.inspection.accesses:
        name = name_of(access)
        if name is not None and bare_name(look, access) is None:
            yield access, name


def _what(name: Name) -> str:
    return "capacity" if name.section == "capacity" else "attribute"


def _count(count: int, whose: str) -> str:
    return f"{count} devices {whose}".rstrip()


def _joined(names: list[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _listed(what: str, names: list[str]) -> str | None:
    """Return a hint that lists what there is, if that is not much."""
    return f"{what}: {', '.join(f'`{name}`' for name in names)}" if 0 < len(names) <= 12 else None
