"""DefaultBinder: binds through the pod's `binding` subresource."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drayman.errors import APIStatusError
from drayman.framework import SUCCESS, CycleState, Handle, Object, Status, failed


class DefaultBinder:
    """Binds the pod that was looked at, not another one of its name: the UID goes along."""

    name = "DefaultBinder"

    def __init__(self, _arguments: Mapping[str, Any], handle: Handle) -> None:
        self._api = handle.api

    async def bind(self, _state: CycleState, pod: Object, node_name: str) -> Status:
        """Bind `pod` to the node."""
        metadata = pod["metadata"]
        try:
            await self._api.bind(metadata["namespace"], metadata["name"], metadata["uid"], node_name)
        except (APIStatusError, ConnectionError) as error:
            return failed(str(error))
        return SUCCESS
