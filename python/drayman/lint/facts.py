"""What has to be true of a device that a selector selects, told from the text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drayman.lint.drivers import Name

if TYPE_CHECKING:
    from drayman.inspection import Access, Comparison, Inspection


@dataclass(frozen=True, slots=True)
class Fact:
    """A comparison with literals that has to hold: of `device.driver`, or of an attribute as messages name it."""

    subject: str
    comparison: Comparison
    values: tuple[object, ...]


def facts(inspection: Inspection) -> list[Fact]:
    """Return what has to hold for the whole expression to be true."""
    found = (fact(comparison) for comparison in inspection.comparisons if comparison.conjunction == 0)
    return [one for one in found if one is not None]


def fact(comparison: Comparison) -> Fact | None:
    """Return what a comparison of the driver or of one attribute with literals says; None of others."""
    left, right = comparison.left, comparison.right
    for subject, other in ((left, right), (right, left)):
        if other.literals and (comparison.operator != "in" or other is right):
            values = tuple(one.value for one in other.literals)
            if subject.kind == "driver":
                return Fact("device.driver", comparison, values)
            # A default stands in for what is missing, so that the comparison says nothing of the attribute then.
            if subject.access is not None and subject.span == subject.access.span:
                name = name_of(subject.access)
                return Fact(written(name), comparison, values) if name else None
    return None


def name_of(access: Access) -> Name | None:
    """Return what an access looks up, or None where that is not one thing that the text tells."""
    if access.domain is None or access.name is None:
        return None
    return Name(access.section, access.domain.text, access.name.text)


def written(name: Name) -> str:
    """Return a name as a selector writes it."""
    simple = re.fullmatch(r"[A-Za-z_]\w*", name.name)
    return f'device.{name.section}["{name.domain}"]' + (f".{name.name}" if simple else f'["{name.name}"]')
