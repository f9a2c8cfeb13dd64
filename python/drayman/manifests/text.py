"""Objects as text: documents of YAML as `kubectl apply -f` reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable


def documents(objects: Iterable[Any]) -> str:
    """Return the objects as YAML, a document each; text of several lines is kept as lines."""
    return yaml.dump_all(
        objects,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        explicit_start=True,
        width=120,
    )


class _Dumper(yaml.SafeDumper):
    """Writes text with line ends as a block."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write equal parts again: an alias is harder to read, and to change by hand."""
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _text)
