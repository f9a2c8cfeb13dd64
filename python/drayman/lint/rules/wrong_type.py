"""Values of a type that their field cannot have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from drayman.errors import InputError
from drayman.lint.context import finding
from drayman.lint.examples import CLAIM
from drayman.lint.rule import Severity, rule
from drayman.manifest import scalars
from drayman.quantity import Quantity

if TYPE_CHECKING:
    from drayman.api.schema import DecodingError
    from drayman.lint.context import Context
    from drayman.lint.document import Document
    from drayman.lint.rule import Findings

BAD = (
    "\n"
    + CLAIM
    + """\
      exactly: {deviceClassName: gpu.example.com, count: "2"}
"""
)
GOOD = BAD.replace('"2"', "2")


@rule(
    "wrong-type",
    Severity.ERROR,
    summary="a value has a type that its field cannot have",
    why="""
The API server cannot read the object, and refuses it as a whole. YAML takes some plain words for other things than
text: `on`, `yes` and `no` are booleans, `1.10` is a number. Quotes make them text.
""",
    bad=BAD,
    good=GOOD,
)
def wrong_type(context: Context) -> Findings:
    """Report what stops the decoder."""
    for document in context.documents:
        if document.linted and document.type_error is None and document.decoded.fatal:
            fatal = document.decoded.fatal
            yield finding(document, fatal.field, fatal.message, _hint(document, fatal))


_UNITS = re.compile(r"(?i)\s*([kmgtpe])(i?)b?$")


def _hint(document: Document, error: DecodingError) -> str | None:
    """Return how a quantity is written, or that text wants quotes."""
    tree = document.tree(error.field)
    value = tree.value if tree else None
    if "into Go" in error.message and error.message.endswith("of type string") and isinstance(value, (int, float)):
        return "write it in quotes"
    if error.message.endswith(("of type int32", "of type int64", "of type bool")) and isinstance(value, str):
        plain = scalars.plain(value)
        return f"write `{value}`, without quotes" if isinstance(plain, (int, bool)) else None
    if error.message.startswith("quantities must match") and isinstance(value, str):
        written = _UNITS.sub(lambda unit: (unit[1].upper() if unit[1] != "k" or unit[2] else "k") + unit[2], value)
        try:
            return f"write `{Quantity(written.replace(' ', ''))}`"
        except InputError:
            return None
    return None
