"""Quantities and versions: mostly ones that read well, many at the edges, some broken."""

from __future__ import annotations

import re

from hypothesis import strategies as st

SUFFIXES = ("", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
EDGES = (
    "0 -0 0.5 .5 5. 1e3 1E3 1e-3 1E 0.1n 1.0000000001 1023.9Mi 8Ei 1e18 1e19 1e-9 1e-10 100e-2 12345678901234567890123 "
    "9223372036854775807 9223372036854775808 -9223372036854775808 9223372036854775807m 9223372036854775807Ki"
)
BROKEN = "+ - . 1.2.3 1KI 1K e3 0x10 1e 1e+ 1ee3 1eKi NaN 1_0 ١"


@st.composite
def _numbers(draw: st.DrawFn) -> str:
    sign = draw(st.sampled_from(("", "", "", "-", "+")))
    whole = draw(st.one_of(st.integers(0, 2000), st.integers(0, 10**20)).map(str))
    fraction = draw(st.one_of(st.just(""), st.text("0123456789", max_size=12).map(lambda digits: f".{digits}")))
    suffix = draw(st.sampled_from(SUFFIXES) | st.integers(-20, 20).map(lambda power: f"e{power}"))
    return sign + draw(st.sampled_from(("", "", "", "0"))) + whole + fraction + suffix


quantities = st.one_of(_numbers(), _numbers(), st.sampled_from(EDGES.split()))
"""Texts that are quantities, nearly all of them."""

# Upstream takes seconds and more over exponents of many digits.
_scrawls = st.text("0123456789.eE+-kKMGmunij ", max_size=8).filter(lambda text: not re.search(r"[eE]\D?\d{4}", text))

quantity_texts = st.one_of(quantities, quantities, st.sampled_from(["", " 1", "1 Gi", *BROKEN.split()]), _scrawls)
"""Texts that may be quantities."""

_identifiers = st.sampled_from(("0", "1", "10", "alpha", "beta", "rc", "x-y", "0a", "01", ""))


@st.composite
def _versions(draw: st.DrawFn) -> str:
    numbers = ".".join(draw(st.lists(st.sampled_from(("0", "1", "2", "10", "01", "")), min_size=3, max_size=3)))
    dotted = st.lists(_identifiers, min_size=1, max_size=3).map(".".join)
    release = draw(st.one_of(st.just(""), dotted.map(lambda text: f"-{text}")))
    build = draw(st.one_of(st.just(""), st.just(""), dotted.map(lambda text: f"+{text}")))
    return numbers + release + build


_near_versions = st.sampled_from(("v1.2.3", "1.2", "1", "1.2.3.4")) | st.text("0123456789.-+av ", max_size=10)

versions = st.one_of(_versions(), _versions(), _near_versions)
"""Texts that may be semantic versions."""
