"""The plugin's arguments: upstream's `DynamicResourcesArgs`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from drayman import durations
from drayman.errors import InputError
from drayman.plugins.dynamic_resources.binding_conditions import DEFAULT_TIMEOUT

_KNOWN = frozenset({"apiVersion", "kind", "filterTimeout", "bindingTimeout"})


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
    try:
        return durations.parse(str(text))
    except ValueError as error:
        raise InputError(str(error), field=name, hint="write it as 90s or 1m30s") from None
