"""Rules about DeviceClass. Source: `pkg/apis/resource/validation`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drayman.api.field import Path
from drayman.api.validation.configuration import device_configuration
from drayman.api.validation.context import Context
from drayman.api.validation.device_names import declared_extended_resource_name
from drayman.api.validation.metadata import metadata, metadata_update
from drayman.api.validation.rules import Errors, declared_list
from drayman.api.validation.selectors import selectors, stored_selectors

SPEC = Path("spec")
_MAX = 32


def device_class(obj: Mapping[str, Any], context: Context) -> Errors:
    """A new DeviceClass."""
    yield from metadata(obj.get("metadata") or {}, namespaced=False)
    yield from _spec(obj.get("spec") or {}, {}, context)


def device_class_update(new: Mapping[str, Any], old: Mapping[str, Any], context: Context) -> Errors:
    """A class may change; selectors and parameters that did not are not checked again."""
    yield from metadata(new.get("metadata") or {}, namespaced=False)
    yield from metadata_update(new.get("metadata") or {}, old.get("metadata") or {})
    yield from _spec(new.get("spec") or {}, old.get("spec") or {}, context)


def _spec(spec: Mapping[str, Any], old: Mapping[str, Any], context: Context) -> Errors:
    path, value = SPEC.child("selectors"), spec.get("selectors")
    yield from stored_selectors(path, value) if value == old.get("selectors") else selectors(path, value, context)
    stored = spec.get("config") == old.get("config")

    def configuration(path: Path, value: Mapping[str, Any]) -> Errors:
        yield from device_configuration(path, value, stored=stored)

    yield from declared_list(SPEC.child("config"), spec.get("config"), _MAX, configuration)
    if spec.get("extendedResourceName") is not None:
        path = SPEC.child("extendedResourceName")
        yield from declared_extended_resource_name(path, spec["extendedResourceName"])
