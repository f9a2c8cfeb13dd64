"""URL paths of the API: which kind, object and subresource a request is about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A path below `/api/VERSION` or `/apis/GROUP/VERSION`; parts that are not there are empty."""

    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def place(path: str) -> Place | None:
    """Return what a path names, or None when it names no resource (discovery, health, unknown paths)."""
    parts = path.strip("/").split("/")
    match parts:
        case ["api", version, *rest] if rest:
            group = ""
        case ["apis", group, version, *rest] if rest:
            pass
        case _:
            return None
    if "" in rest:
        return None
    namespace = ""
    # `/namespaces/NAME` and its subresources are about the namespace itself.
    if rest[0] == "namespaces" and len(rest) > 2 and not (len(rest) == 3 and rest[2] in ("status", "finalize")):
        namespace, rest = rest[1], rest[2:]
    match rest:
        case [plural]:
            return Place(group, version, plural, namespace)
        case [plural, name]:
            return Place(group, version, plural, namespace, name)
        case [plural, name, subresource]:
            return Place(group, version, plural, namespace, name, subresource)
    return None
