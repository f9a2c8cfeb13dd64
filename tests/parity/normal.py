"""What two servers may differ in is taken out of an answer.

Identifiers, versions, times, random names; texts that describe the API; hashes of storage versions; and managers of
fields that did not come by an apply, which the fake server does not keep.
"""

from __future__ import annotations

import re
from typing import Any

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_AGE = re.compile(r"\d+[smhd]|<unknown>")
_TOO_OLD = re.compile(r"(too old resource version: \d+) \(\d+\)")
_RECORD = re.compile(r"(ResourceVersion in record )\(\d+\)")
_GO = (
    # Texts of Go's own decoder and differ, and values in the form of Go's types.
    (re.compile(r"(json parse error: |continue key is not valid: ).*"), r"\1<text>"),
    (re.compile(r"(pod updates may not change fields [^\n]*)\n.*", re.DOTALL), r"\1"),
    (
        re.compile(r"(Invalid value: )[\[{].*[\]}](: (?:field is immutable|must be an allocated device))"),
        r"\1<value>\2",
    ),
)
_GENERATED = re.compile(r"[bcdfghjklmnpqrstvwxz2456789]{5}$")
_LEFT_OUT = ("managedFields", "storageVersionHash")


class Normal:
    """Normalises the answers of one sequence: what was equal in it stays equal."""

    def __init__(self) -> None:
        self._uids: dict[str, str] = {}
        self._versions: dict[str, str] = {}

    def value(self, value: Any) -> Any:
        """Return `value` with placeholders."""
        if isinstance(value, dict):
            return self._mapping(value)
        if isinstance(value, list):
            return [self.value(one) for one in value]
        return self._text(value) if isinstance(value, str) else value

    def _mapping(self, value: dict[str, Any]) -> dict[str, Any]:
        normal = {key: self.value(one) for key, one in value.items() if key not in _LEFT_OUT}
        if "columnDefinitions" in value:
            normal["columnDefinitions"] = [_without_description(column) for column in value["columnDefinitions"]]
        if applied := [one for one in value.get("managedFields") or () if one["operation"] == "Apply"]:
            normal["managedFields"] = self.value(applied)
        version = value.get("resourceVersion")
        if version not in (None, "", "0"):
            # That of a list tells of all that the server has stored meanwhile, its own objects among them.
            is_list = "uid" not in value and "name" not in value
            normal["resourceVersion"] = "<version>" if is_list else self._version(str(version))
        if value.get("continue"):
            normal["continue"] = "<continue>"
        if value.get("generateName") and value.get("name"):
            normal["name"] = _GENERATED.sub("<random>", value["name"])
        if "cells" in value:
            normal["cells"] = ["<age>" if _AGE.fullmatch(str(cell)) else self.value(cell) for cell in value["cells"]]
        return normal

    def _version(self, version: str) -> str:
        return self._versions.setdefault(version, f"<version {len(self._versions) + 1}>")

    def _text(self, text: str) -> str:
        text = _UID.sub(lambda match: self._uids.setdefault(match[0], f"<uid {len(self._uids) + 1}>"), text)
        for pattern, replacement in _GO:
            text = pattern.sub(replacement, text)
        return _RECORD.sub(r"\1(<version>)", _TOO_OLD.sub(r"\1 (<version>)", _TIME.sub("<time>", text)))


def _without_description(column: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in column.items() if key != "description"}
