"""What can be said against a manifest without a server: its type, its field names and the types of their values."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import TYPE_CHECKING

from drayman.api import convert, schema
from drayman.errors import InputError

if TYPE_CHECKING:
    from drayman.manifest.loading import Manifest

_MISSPELT = 0.87
"""How like a built-in group another one must be to be a mistake: `gateway.networking.k8s.io` with 0.81 is none."""


def check(manifest: Manifest) -> Manifest:
    """Return the manifest with its object decoded and, of `resource.k8s.io`, in version `v1`.

    Raises :class:`InputError` with file, line, object, field and, where one is near, the name that was meant, for: no
    `apiVersion` or `kind`, a kind that its built-in group does not have, an unknown field, a value of the wrong type.
    Kinds of groups that are not built in pass as they are.
    """
    check_type(manifest)
    decoded = schema.decode(manifest.object)
    if decoded.fatal:
        hint = _quotes_hint(manifest, decoded.fatal.field) if decoded.fatal.message.endswith("of type string") else None
        raise _error(manifest, decoded.fatal.field, decoded.fatal.message, hint)
    if decoded.errors:
        field = decoded.errors[0].field
        raise _error(manifest, field, "unknown field", schema.field_hint(manifest.object, field))
    return replace(manifest, object=convert.to_v1(decoded.object))


def check_type(manifest: Manifest) -> None:
    """Raise :class:`InputError` for an object without `apiVersion` or `kind`, or of a kind unknown to its group."""
    for name in ("apiVersion", "kind"):
        if not isinstance(manifest.object.get(name), str) or not manifest.object[name]:
            raise _error(manifest, name, "not set" if not manifest.object.get(name) else "not text")
    _check_kind(manifest)


def _check_kind(manifest: Manifest) -> None:
    version, kind = manifest.object["apiVersion"], manifest.object["kind"]
    group = version.rpartition("/")[0]
    if group not in schema.groups():
        meant = difflib.get_close_matches(group, sorted(schema.groups()), n=1, cutoff=_MISSPELT)
        # Projects have groups under `x-k8s.io` that are called like built-in ones.
        if meant and group.endswith(".k8s.io") and not group.endswith(".x-k8s.io"):
            raise _error(manifest, "apiVersion", f"unknown API group `{group}`", f"did you mean `{meant[0]}`?")
        return
    if version not in schema.versions(group):
        versions = ", ".join(f"`{known}`" for known in schema.versions(group))
        raise _error(manifest, "apiVersion", f"unknown version `{version}`", f"there are {versions}")
    if kind not in schema.kinds(version):
        message = f'no matches for kind "{kind}" in version "{version}"'
        similar = schema.did_you_mean(kind, schema.kinds(version))
        elsewhere = [known for known in schema.versions(group) if kind in schema.kinds(known)]
        hint = f"did you mean `{similar}`?" if similar else None
        if elsewhere:
            hint = f"it is in {', '.join(f'`{known}`' for known in elsewhere)}"
        raise _error(manifest, "kind", message, hint)


def _quotes_hint(manifest: Manifest, field: str) -> str | None:
    """Say what YAML makes of text that should have been in quotes, such as `n` or `1.5`."""
    tree, found = manifest.find(field) or (None, False)
    kinds = {bool: "a truth value", int: "a number", float: "a number"}
    kind = kinds.get(type(tree.value)) if tree and found else None
    return f"put it in quotes: without them it is {kind}" if kind else None


def _error(manifest: Manifest, field: str, message: str, hint: str | None = None) -> InputError:
    return InputError(
        message,
        file=manifest.file,
        object=manifest.name or None,
        field=field,
        line=manifest.position(field).line,
        hint=hint,
    )
