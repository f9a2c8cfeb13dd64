"""What a column is, and how ages are written."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drayman.timestamps import parse_rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Object = dict[str, Any]
Cell = str | int | bool


@dataclass(frozen=True, slots=True)
class Column:
    """One column: `cell(obj, now)` makes its value. `wide` columns show only with `-o wide`."""

    name: str
    cell: Callable[[Object, dt.datetime], Cell]
    type: str = "string"
    wide: bool = False
    format: str = ""

    def definition(self) -> Object:
        """Return the `meta.k8s.io/v1` column definition."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": "",
            "priority": int(self.wide),
        }


def age(obj: Object, now: dt.datetime) -> str:
    """Return how long ago the object was created."""
    return since(obj["metadata"].get("creationTimestamp"), now)


def since(timestamp: str | None, now: dt.datetime) -> str:
    """Return the time from `timestamp` to `now` as kubectl prints it; `<unknown>` without one."""
    return "<unknown>" if not timestamp else duration(now - parse_rfc3339(timestamp))


def duration(span: dt.timedelta) -> str:
    """Return a duration as `HumanDuration` of apimachinery writes it: two units at most, rounded down."""
    seconds = int(span.total_seconds())
    if seconds < -1:
        return "<invalid>"
    if seconds < 0:
        return "0s"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return _pair(minutes, "m", seconds % 60, "s")
    if hours < 3:
        return f"{minutes}m"
    if hours < 8:
        return _pair(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if hours < 24 * 8:
        return _pair(days, "d", hours % 24, "h")
    if days < 365 * 2:
        return f"{days}d"
    if days < 365 * 8:
        return _pair(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _pair(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"


def at(obj: Any, path: str, default: Any = None) -> Any:
    """Return the value at a dotted path, or `default` where a step is missing or null."""
    for step in path.split("."):
        obj = obj.get(step) if isinstance(obj, dict) else None
    return default if obj is None else obj


def text(path: str, default: str = "") -> Callable[[Object, dt.datetime], Cell]:
    """Return a cell function that shows the text at `path`."""
    return lambda obj, now: str(at(obj, path, default) or default)


def number(path: str, default: int = 0) -> Callable[[Object, dt.datetime], Cell]:
    """Return a cell function that shows the number at `path`."""
    return lambda obj, now: int(at(obj, path, default))


def flag(path: str, *, default: bool = False) -> Callable[[Object, dt.datetime], Cell]:
    """Return a cell function that shows the boolean at `path`."""
    return lambda obj, now: bool(at(obj, path, default))


def count(*paths: str) -> Callable[[Object, dt.datetime], Cell]:
    """Return a cell function that shows how many entries the lists or maps at `paths` have."""
    return lambda obj, now: sum(len(at(obj, path, ())) for path in paths)


def labels(path: str) -> Callable[[Object, dt.datetime], Cell]:
    """Return a cell function that shows a map as `a=b,c=d`."""
    return lambda obj, now: format_labels(at(obj, path, {}))


def format_labels(values: Mapping[str, str]) -> str:
    """Return a map as `a=b,c=d` in the order of its keys, `<none>` when it is empty."""
    return ",".join(f"{key}={values[key]}" for key in sorted(values)) or "<none>"


def label_selector(path: str) -> Callable[[Object, dt.datetime], Cell]:
    """Return a cell function that shows the `metav1.LabelSelector` at `path`."""
    return lambda obj, now: format_selector(at(obj, path, {}))


def format_selector(selector: Object) -> str:
    """Return a `metav1.LabelSelector` as text, `<none>` when it selects everything."""
    terms = [(key, f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
    for expression in selector.get("matchExpressions") or ():
        key, values = expression["key"], ",".join(sorted(expression.get("values") or ()))
        forms = {
            "In": f"{key} in ({values})",
            "NotIn": f"{key} notin ({values})",
            "Exists": key,
            "DoesNotExist": f"!{key}",
        }
        terms.append((key, forms.get(expression["operator"], key)))
    return ",".join(term for _, term in sorted(terms)) or "<none>"


NAME = Column("Name", lambda obj, now: str(obj["metadata"]["name"]), format="name")
AGE = Column("Age", age)
