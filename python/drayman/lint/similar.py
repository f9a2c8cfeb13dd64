"""Which known name the author of an unknown one may have meant."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from drayman.api import schema

if TYPE_CHECKING:
    from collections.abc import Iterable


def similar(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that `name` is nearly, or None.

    Names with dots are compared part by part: `nic.example.com` is not nearly `gpu.example.com`, though most of it is
    the same, but `gpu.exmaple.com` and `example.com` are.
    """
    if "." not in name:
        return schema.did_you_mean(name, [one for one in known if "." not in one])
    dotted = sorted(one for one in known if "." in one and one != name)
    return next((one for one in dotted if _nearly(name.split("."), one.split("."))), None)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return a hint that names the known name that `name` is nearly, or None."""
    near = similar(name, known)
    return f"did you mean `{near}`?" if near else None


def _nearly(one: list[str], other: list[str]) -> bool:
    if len(one) != len(other):
        short, long = sorted((one, other), key=len)
        return len(short) > 1 and long[-len(short) :] == short
    different = [(a, b) for a, b in itertools.zip_longest(one, other) if a != b]
    return len(different) == 1 and schema.did_you_mean(different[0][0], [different[0][1]]) is not None
