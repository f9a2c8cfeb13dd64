"""Rules about `metadata`: names, labels, annotations, owners, finalizers, and what may change.

Source: apimachinery's `pkg/api/validation/objectmeta.go` and `pkg/apis/meta/v1/validation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from drayman.api import schema
from drayman.api.field import Path, forbidden, invalid, required, too_long
from drayman.api.validation import names
from drayman.api.validation.rules import Errors, matching, not_negative, one_of, repeated, unchanged

METADATA = Path("metadata")
_MAX_ANNOTATIONS = 256 * 1024
_FIXED = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


def metadata(
    value: Mapping[str, Any],
    *,
    namespaced: bool,
    name: Callable[[str], list[str]] = names.dns_subdomain,
    path: Path = METADATA,
) -> Errors:
    """The metadata of a new object, after a name was generated for it."""
    if value.get("generateName"):
        for problem in name(_without_trailing_dash(value["generateName"])):
            yield invalid(path.child("generateName"), value["generateName"], problem)
    if not value.get("name"):
        yield required(path.child("name"), "name or generateName is required")
    else:
        yield from matching(path.child("name"), value["name"], name)
    yield from _namespace(path.child("namespace"), value.get("namespace"), namespaced=namespaced)
    yield from not_negative(path.child("generation"), value.get("generation"))
    yield from descriptive_metadata(path, value)
    yield from owner_references(path.child("ownerReferences"), value.get("ownerReferences") or ())
    for finalizer in value.get("finalizers") or ():
        yield from matching(path.child("finalizers"), finalizer, names.label_key)


def _without_trailing_dash(prefix: str) -> str:
    return prefix[:-2] + "a" if len(prefix) > 1 and prefix.endswith("-") else prefix


def _namespace(path: Path, value: str | None, *, namespaced: bool) -> Errors:
    if not namespaced:
        if value:
            yield forbidden(path, "not allowed on this type")
    elif not value:
        yield required(path)
    else:
        yield from matching(path, value, names.dns_label)


def descriptive_metadata(path: Path, value: Mapping[str, Any]) -> Errors:
    """Labels and annotations, of an object or of a template."""
    yield from labels(path.child("labels"), value.get("labels"))
    yield from annotation_keys(path.child("annotations"), value.get("annotations"))


def labels(path: Path, value: Mapping[str, str] | None) -> Errors:
    """Keys and values of labels, or of a selector by labels."""
    for key, text in sorted((value or {}).items()):
        yield from matching(path, key, names.label_key)
        yield from matching(path, text, names.label_value)


def annotation_keys(path: Path, value: Mapping[str, str] | None) -> Errors:
    """Keys of annotations, case aside, and their size together."""
    total = 0
    for key, text in sorted((value or {}).items()):
        total += names.size(key) + names.size(text)
        for problem in names.label_key(key.lower()):
            yield invalid(path, key, problem)
    if total > _MAX_ANNOTATIONS:
        yield too_long(path, _MAX_ANNOTATIONS)


def owner_references(path: Path, value: list[Mapping[str, Any]] | tuple[()]) -> Errors:
    """Owners are named whole, and only one controls."""
    controller = ""
    for index, reference in enumerate(value):
        yield from _owner_reference(path.index(index), reference)
        if reference.get("controller"):
            name = f"{reference.get('kind', '')}/{reference.get('name', '')}"
            if controller:
                rule = 'Only one reference can have Controller set to true. Found "true" in references for'
                shown = schema.ordered("[]meta.v1.OwnerReference", list(value))
                yield invalid(path, shown, f"{rule} {controller} and {name}")
            controller = controller or name


def _owner_reference(path: Path, reference: Mapping[str, Any]) -> Errors:
    version = reference.get("apiVersion", "")
    if not version:
        yield required(path.child("apiVersion"), "must not be empty")
    elif version.count("/") > 1 or version.endswith("/"):
        yield invalid(path.child("apiVersion"), version, "must be <group>/<version> or <version>")
    for name in ("kind", "name", "uid"):
        if not reference.get(name):
            yield required(path.child(name), "must not be empty")
    if version == "v1" and reference.get("kind") == "Event":
        yield invalid(path, dict(reference), "/v1, Kind=Event is disallowed from being an owner")


def metadata_update(new: Mapping[str, Any], old: Mapping[str, Any], path: Path = METADATA) -> Errors:
    """What may change in the metadata of an object that exists."""
    if old.get("deletionTimestamp"):
        added = sorted(set(new.get("finalizers") or ()) - set(old.get("finalizers") or ()))
        if added:
            listed = ", ".join(f'"{name}"' for name in added)
            rule = "no new finalizers can be added if the object is being deleted, found new finalizers"
            yield forbidden(path.child("finalizers"), f"{rule} []string{{{listed}}}")
    if not new.get("resourceVersion"):
        yield invalid(path.child("resourceVersion"), "", "must be specified for an update")
    yield from not_negative(path.child("generation"), new.get("generation"))
    if new.get("generation", 0) < old.get("generation", 0):
        yield invalid(path.child("generation"), new.get("generation", 0), "must not be decremented")
    for name in _FIXED:
        yield from unchanged(path.child(name), new.get(name), old.get(name))
    yield from descriptive_metadata(path, new)
    yield from owner_references(path.child("ownerReferences"), new.get("ownerReferences") or ())


def label_selector(path: Path, selector: Mapping[str, Any]) -> Errors:
    """A selector by labels, as in Jobs and Deployments."""
    yield from labels(path.child("matchLabels"), selector.get("matchLabels"))
    for index, requirement in enumerate(selector.get("matchExpressions") or ()):
        yield from _requirement(path.child("matchExpressions").index(index), requirement)


def _requirement(path: Path, requirement: Mapping[str, Any]) -> Errors:
    values, operator = requirement.get("values") or [], requirement.get("operator", "")
    if operator in {"In", "NotIn"}:
        if not values:
            yield required(path.child("values"), "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            yield forbidden(path.child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    else:
        yield invalid(path.child("operator"), operator, "not a valid selector operator")
    yield from matching(path.child("key"), requirement.get("key", ""), names.label_key)
    for index, text in enumerate(values):
        yield from matching(path.child("values").index(index), text, names.label_value)


def conditions(path: Path, value: list[Mapping[str, Any]] | None) -> Errors:
    """Conditions of the common kind, at most one of a type."""
    yield from repeated(path, value or (), key=lambda item: item.get("type"), shown=lambda item: item.get("type"))
    for index, condition in enumerate(value or ()):
        yield from _condition(path.index(index), condition)


def _condition(path: Path, condition: Mapping[str, Any]) -> Errors:
    if not condition.get("type"):
        yield required(path.child("type"), "is required")
    else:
        yield from matching(path.child("type"), condition["type"], names.label_key)
    yield from one_of(path.child("status"), condition.get("status"), ["False", "True", "Unknown"])
    if condition.get("observedGeneration", 0) < 0:
        text = "must be greater than or equal to zero"
        yield invalid(path.child("observedGeneration"), condition["observedGeneration"], text)
    if not condition.get("lastTransitionTime"):
        yield required(path.child("lastTransitionTime"))
    if not condition.get("reason"):
        yield required(path.child("reason"))
    else:
        yield from matching(path.child("reason"), condition["reason"], names.condition_reason)
        if names.size(condition["reason"]) > 1024:
            yield too_long(path.child("reason"), 1024)
    if names.size(condition.get("message", "")) > 32 * 1024:
        yield too_long(path.child("message"), 32 * 1024)
