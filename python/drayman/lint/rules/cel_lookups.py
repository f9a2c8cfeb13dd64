"""How expressions look attributes and capacities up: by domain and name, and with nothing behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.lint.drivers import Name
from drayman.lint.facts import name_of, written
from drayman.lint.looks import SUFFIXES
from drayman.lint.rule import Severity, rule
from drayman.lint.rules.cel_syntax import example

if TYPE_CHECKING:
    from drayman.inspection import Access
    from drayman.lint.context import Context
    from drayman.lint.looks import Look
    from drayman.lint.rule import Findings


@rule(
    "cel-missing-domain",
    Severity.ERROR,
    summary="an attribute or capacity is looked up by its name alone",
    why="""
`device.attributes` and `device.capacity` are maps of domains, and each domain is a map of names. What a driver
publishes without a domain belongs to the domain that is called like the driver:
`device.attributes["gpu.example.com"].model`. An unknown domain is an empty map, so that a name alone finds nothing.
""",
    bad=example("device.driver == 'gpu.example.com' && device.attributes['model'] == 'A100'"),
    good=example("device.driver == 'gpu.example.com' && device.attributes['gpu.example.com'].model == 'A100'"),
    refines=True,
)
def cel_missing_domain(context: Context) -> Findings:
    """Find keys that stand for a name, or for domain and name at once."""
    for look in context.looks:
        for access in look.inspection.accesses:
            meant = bare_name(look, access)
            if meant is None or access.domain is None:
                continue
            section, _, name = meant
            key = access.domain.text
            plural = "attributes" if access.section == "attributes" else "capacities"
            message = f"`{key}` is no domain: {plural} are looked up by domain and name"
            if "/" in key:
                message = f"`{key}` is domain and name in one: they are looked up one after the other"
            hint = f"write `{written(meant)}`"
            if section != access.section:
                hint += f": `{name}` is {'a capacity' if section == 'capacity' else 'an attribute'}"
            fix = {access.span: written(meant)} if meant in look.published and access.form != "in" else None
            yield look.finding(access.span, message, hint, fix=fix, safe=bool(look.pool), said=look.said(access.span))


def bare_name(look: Look, access: Access) -> Name | None:
    """Return what a look-up without a domain means; the domain is `<driver>` where it is not known. None for others."""
    if access.domain is None:
        return None
    key = access.domain.text
    domain, _, name = key.rpartition("/")
    if domain and access.name is not None and access.name.text not in SUFFIXES and look.domain_meant(key):
        return None  # the name of a resource in the place of the domain
    if domain:
        return _published(look, access.section, name, domain)
    if "." in key or key in look.domains:
        return None
    if access.name is None:
        named = not _is_computed(look, access) and _is_value(look, access)
        return _published(look, access.section, key) if named else None
    is_name = any(one.name == key for one in look.published)
    if access.name.text in SUFFIXES or is_name:
        return _published(look, access.section, key)
    return None


def _is_computed(look: Look, access: Access) -> bool:
    """Whether the name is no text but computed: `device.capacity["a.example"][name]`."""
    return access.domain is not None and "[" in look.text[access.domain.span.end : access.span.end]


def _is_value(look: Look, access: Access) -> bool:
    """Whether a whole domain is used as if it was one value."""
    if access.form in ("in", "has"):
        return access.domain is not None and any(one.name == access.domain.text for one in look.published)
    sides = [side for one in look.inspection.comparisons for side in (one.left, one.right)]
    compared = any(access in (side.access, side.member and side.member.access) for side in sides)
    called = any(member.access == access for member in look.inspection.members)
    is_all = look.text.strip() == look.text[access.span.start : access.span.end]
    return compared or called or is_all


def _published(look: Look, section: str, name: str, domain: str = "") -> Name:
    """Return the published name that is meant, or the name in the domain of the driver."""
    found = sorted(
        (one for one in look.published if one.name == name and domain in ("", one.domain)),
        key=lambda one: (one.section != section, one.domain != look.driver, one),
    )
    only = {one.domain for one in found if one.section == found[0].section}
    if found and (found[0].domain == look.driver or len(only) == 1):
        return found[0]
    return Name(section, domain or look.driver or "<driver>", name)


@rule(
    "cel-value-suffix",
    Severity.ERROR,
    summary="the type of an attribute is written behind its name, as in a ResourceSlice",
    why="""
In a ResourceSlice the value stands below its type (`model: {string: A100}`, `memory: {value: 40Gi}`). In CEL the
attribute is the value itself: a text, a number, a truth value, a version or a quantity, none of which has fields.
""",
    bad=example("device.driver == 'a.example' && device.attributes['a.example'].model.string == 'A100'"),
    good=example("device.driver == 'a.example' && device.attributes['a.example'].model == 'A100'"),
    refines=True,
)
def cel_value_suffix(context: Context) -> Findings:
    """Find fields of attributes, and calls without arguments that are called like a type."""
    for look in context.looks:
        for member in look.inspection.members:
            name = name_of(member.access)
            is_field = member.arguments is None
            if name is None or bare_name(look, member.access) or not (is_field or member.name in SUFFIXES):
                continue
            if member.arguments:
                continue
            what = "capacity" if name.section == "capacity" else "attribute"
            message = f"`{name.name}` is the value of the {what}, and has no `{member.name}`"
            sure = member.name in SUFFIXES and not _is_followed(look, member.span.end)
            hint = f"write `{look.text[member.access.span.start : member.access.span.end]}`" if sure else None
            yield look.finding(
                member.span, message, hint, fix={member.span: ""} if sure else None, said=look.said(member.span)
            )


def _is_followed(look: Look, end: int) -> bool:
    """Whether more is selected or called behind a place."""
    rest = look.text[end:].lstrip()
    return rest.startswith((".", "[", "(")) and not rest.startswith(_QUANTITY_AND_VERSION)


_QUANTITY_AND_VERSION = (".compareTo(", ".isGreaterThan(", ".isLessThan(", ".matches(", ".startsWith(", ".contains(")
