"""SupportedFeatures: refuses pods that ask for what this scheduler does not look at, and names the field.

A pod that were scheduled without regard to its anti-affinity or its volumes would run in the wrong place, silently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drayman.framework import SUCCESS, CycleState, Handle, Object, PreFilterResult, Registration, Status, unresolvable
from drayman.pods.unsupported import unsupported_fields


class SupportedFeatures:
    """Knows what the built-in plugins leave out. Not in upstream; disable it to schedule such pods all the same."""

    name = "SupportedFeatures"

    def __init__(self, _arguments: Mapping[str, Any], _handle: Handle) -> None:
        pass

    def pre_filter(self, _state: CycleState, pod: Object) -> tuple[Status, PreFilterResult | None]:
        """Refuse the pod, naming the fields."""
        fields = list(unsupported_fields(pod))
        if not fields:
            return SUCCESS, None
        named = ", ".join(f"`{field}`" for field in fields)
        return unresolvable(f"{named}: not supported by drayman"), None

    def events_to_register(self) -> Sequence[Registration]:
        """Wait for nothing: no change in the cluster makes the pod supported."""
        return ()
