"""Rules about DeviceTaintRule. Source: `pkg/apis/resource/validation`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drayman.api.field import Path, too_many
from drayman.api.validation.context import Context
from drayman.api.validation.device_names import device_name, driver_name, pool_name
from drayman.api.validation.metadata import conditions, metadata, metadata_update
from drayman.api.validation.rules import Errors
from drayman.api.validation.tolerations import device_taint, device_taint_update

SPEC = Path("spec")
_MAX_CONDITIONS = 8


def taint_rule(obj: Mapping[str, Any], context: Context) -> Errors:
    """A new DeviceTaintRule."""
    spec = obj.get("spec") or {}
    yield from metadata(obj.get("metadata") or {}, namespaced=False)
    yield from _device_selector(SPEC.child("deviceSelector"), spec.get("deviceSelector") or {})
    yield from device_taint(SPEC.child("taint"), spec.get("taint") or {})


def taint_rule_update(new: Mapping[str, Any], old: Mapping[str, Any], context: Context) -> Errors:
    """A rule may change."""
    spec, old_spec = new.get("spec") or {}, old.get("spec") or {}
    yield from metadata_update(new.get("metadata") or {}, old.get("metadata") or {})
    yield from _device_selector(SPEC.child("deviceSelector"), spec.get("deviceSelector") or {})
    yield from device_taint_update(SPEC.child("taint"), spec.get("taint") or {}, old_spec.get("taint") or {})


def taint_rule_status_update(new: Mapping[str, Any], old: Mapping[str, Any], context: Context) -> Errors:
    """The conditions that the eviction controller keeps."""
    path = Path("status").child("conditions")
    reported = (new.get("status") or {}).get("conditions") or []
    yield from metadata_update(new.get("metadata") or {}, old.get("metadata") or {})
    yield from conditions(path, reported)
    if len(reported) > _MAX_CONDITIONS:
        yield too_many(path, len(reported), _MAX_CONDITIONS)


def _device_selector(path: Path, selector: Mapping[str, Any]) -> Errors:
    for name, rule in (("driver", driver_name), ("pool", pool_name), ("device", device_name)):
        if selector.get(name) is not None:
            yield from rule(path.child(name), selector[name])
