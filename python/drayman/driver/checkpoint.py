"""The claims that are prepared on this node, kept in a file so that a restarted driver still knows them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from drayman.driver import files
from drayman.driver.claims import ClaimReference, PreparedClaim, PreparedDevice
from drayman.errors import InputError

API_VERSION = "checkpoint.drayman.internal/v1"
KIND = "Checkpoint"


class Checkpoint(Mapping[str, PreparedClaim]):
    """The prepared claims by UID. Every change is on disk before the call returns.

    Raises :class:`~drayman.errors.InputError` when the file is there but is not a checkpoint: to go on without it
    would hand out devices that are in use.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._claims = {claim.reference.uid: claim for claim in _load(path)}

    def __getitem__(self, uid: str) -> PreparedClaim:
        return self._claims[uid]

    def __iter__(self) -> Iterator[str]:
        return iter(self._claims)

    def __len__(self) -> int:
        return len(self._claims)

    def add(self, claim: PreparedClaim) -> None:
        """Remember `claim`."""
        self._save({**self._claims, claim.reference.uid: claim})

    def remove(self, uid: str) -> None:
        """Forget the claim `uid`, if it is known."""
        if uid in self._claims:
            self._save({other: claim for other, claim in self._claims.items() if other != uid})

    def _save(self, claims: dict[str, PreparedClaim]) -> None:
        entries = [dataclasses.asdict(claims[uid]) for uid in sorted(claims)]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        files.write_json(self._path, {"apiVersion": API_VERSION, "kind": KIND, "preparedClaims": entries})
        self._claims = claims


def _load(path: Path) -> list[PreparedClaim]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    try:
        return _claims(json.loads(text))
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"not a checkpoint of this driver: {error}",
            file=str(path),
            hint="remove it if no pod on the node uses devices of the driver",
        ) from error


def _claims(document: Mapping[str, Any]) -> list[PreparedClaim]:
    if (document["apiVersion"], document["kind"]) != (API_VERSION, KIND):
        raise ValueError(f"it is a `{document['kind']}` of `{document['apiVersion']}`")
    return [_claim(entry) for entry in document["preparedClaims"]]


def _claim(entry: Mapping[str, Any]) -> PreparedClaim:
    reference = ClaimReference(**entry["reference"])
    files.checked_part(reference.uid, "claim UID")
    return PreparedClaim(reference, tuple(PreparedDevice(**device) for device in entry["devices"]))
