"""Comments that switch rules off for a line: `# drayman: ignore[rule, …]`, on it or alone on the line above.

In a CEL expression that is written over several lines the comment may be CEL's own, `// drayman: ignore[…]`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drayman.lint.source import Source

_COMMENT = re.compile(r"(?P<before>.*?)(?:#|//)\s*drayman:\s*ignore\[(?P<rules>[^\]]*)\]")


def ignores(source: Source, line: int, rule: str) -> bool:
    """Return whether a comment on the line, or alone on the one above, switches the rule off."""
    return rule in _rules(source.line(line)) or rule in _rules(source.line(line - 1), alone=True)


def _rules(line: str, *, alone: bool = False) -> frozenset[str]:
    found = _COMMENT.match(line)
    if found is None or (alone and found["before"].strip()):
        return frozenset()
    return frozenset(name.strip() for name in found["rules"].split(","))
