"""The columns of `rbac.authorization.k8s.io`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.testing.apiserver.tables.column import AGE, NAME, Column, Object, at

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable


def _role(binding: Object, now: dt.datetime) -> str:
    return f"{at(binding, 'roleRef.kind', '')}/{at(binding, 'roleRef.name', '')}"


def _subjects(kind: str) -> Callable[[Object, dt.datetime], str]:
    def cell(binding: Object, now: dt.datetime) -> str:
        chosen = [subject for subject in at(binding, "subjects", ()) if subject.get("kind") == kind]
        if kind == "ServiceAccount":
            return ", ".join(f"{subject.get('namespace', '')}/{subject['name']}" for subject in chosen)
        return ", ".join(str(subject["name"]) for subject in chosen)

    return cell


ROLE_BINDINGS = (
    NAME,
    Column("Role", _role),
    AGE,
    Column("Users", _subjects("User"), wide=True),
    Column("Groups", _subjects("Group"), wide=True),
    Column("ServiceAccounts", _subjects("ServiceAccount"), wide=True),
)
ROLES = (NAME, Column("Created At", lambda role, now: str(role["metadata"].get("creationTimestamp", ""))))
