"""Which kinds are served in which version, after `--runtime-config`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from drayman.testing.apiserver.kinds import KINDS, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Served:
    """One kind in one served version."""

    kind: Kind
    version: str

    @property
    def api_version(self) -> str:
        """The `apiVersion` of the objects in requests and answers."""
        return f"{self.kind.group}/{self.version}" if self.kind.group else self.version

    @property
    def storage_api_version(self) -> str:
        """The `apiVersion` that the write path works on."""
        version = self.kind.versions[0]
        return f"{self.kind.group}/{version}" if self.kind.group else version


class Registry:
    """Finds kinds by their place in the API.

    Versions that are not stable are served only when `runtime_config` names them, as on a real server:
    `{"resource.k8s.io/v1beta1": True}`, `{"api/beta": True}` or `{"api/all": True}`.
    """

    def __init__(self, runtime_config: Mapping[str, bool]) -> None:
        self._config = runtime_config
        self._served: dict[tuple[str, str, str], Served] = {}
        for kind in KINDS:
            for version in kind.versions:
                if self._enabled(kind.group, version):
                    self._served[kind.group, version, kind.plural] = Served(kind, version)

    def _enabled(self, group: str, version: str) -> bool:
        level = "alpha" if "alpha" in version else "beta" if "beta" in version else "ga"
        choices = (f"{group}/{version}" if group else f"api/{version}", f"api/{level}", "api/all")
        return next((self._config[choice] for choice in choices if choice in self._config), level == "ga")

    def __iter__(self) -> Iterator[Served]:
        return iter(self._served.values())

    def has_group(self, group: str) -> bool:
        """Return whether anything of the group is served."""
        return group in self.groups()

    def find(self, group: str, version: str, plural: str) -> Served | None:
        """Return what is served at this place."""
        return self._served.get((group, version, plural))

    def groups(self) -> dict[str, list[str]]:
        """Return the served versions of each group, in order of preference, groups in order of their names."""
        groups: dict[str, list[str]] = {}
        for served in sorted(self, key=lambda served: served.kind.group):
            versions = groups.setdefault(served.kind.group, [])
            if served.version not in versions:
                versions.append(served.version)
        return {group: sorted(versions, key=_preference) for group, versions in groups.items()}

    def in_version(self, group: str, version: str) -> list[Served]:
        """Return the kinds of a version, in order of their plural names."""
        found = [served for served in self if (served.kind.group, served.version) == (group, version)]
        return sorted(found, key=lambda served: served.kind.plural)


def _preference(version: str) -> tuple[int, int, int]:
    """Order versions as discovery does: stable before beta before alpha, newer before older."""
    head, _, tail = version[1:].partition("beta" if "beta" in version else "alpha")
    level = 2 if "alpha" in version else 1 if "beta" in version else 0
    return (level, -int(head), -int(tail or 0))
