"""The plugin's arguments: upstream's `DynamicResourcesArgs`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from drayman.errors import InputError
from drayman.plugins.dynamic_resources.binding_conditions import DEFAULT_TIMEOUT

_KNOWN = frozenset({"apiVersion", "kind", "filterTimeout", "bindingTimeout"})
_PART = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


@dataclass(frozen=True, slots=True)
class Arguments:
    """`binding_timeout` in seconds. `filterTimeout` is accepted and not used: searches are not timed."""

    binding_timeout: float = DEFAULT_TIMEOUT

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Arguments:
        """Read the arguments. Raises :class:`InputError`."""
        for name in values:
            if name not in _KNOWN:
                raise InputError(f'unknown field "{name}"', field=name)
        timeout = _seconds("bindingTimeout", values.get("bindingTimeout"), DEFAULT_TIMEOUT)
        if timeout < 1:
            raise InputError("must be at least 1s", field="bindingTimeout")
        return cls(timeout)


def _seconds(name: str, text: object, default: float) -> float:
    """Return a duration as Go writes it, such as `10m` or `1m30s`, in seconds."""
    if text is None:
        return default
    parts = _PART.findall(str(text))
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise InputError(f"`{text}` is not a duration", field=name, hint="write it as 90s or 1m30s")
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)
