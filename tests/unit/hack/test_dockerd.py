"""Who ends the private Docker daemon finds what it changed, also with another cache than who started it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hack.kind import parts


@pytest.fixture
def dockerd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script, with a machine of its own."""
    script = parts.module_of(Path(__file__).parents[3] / "hack/kind/dockerd")
    monkeypatch.setattr(script, "ROOTS", tmp_path / "data-roots")
    monkeypatch.setattr(script, "NETWORK", tmp_path / "net")
    for bridge in ("br-1111", "br-2222", "br-3333"):
        (tmp_path / "net" / bridge).mkdir(parents=True)
    return script


def start(dockerd: Any, monkeypatch: pytest.MonkeyPatch, cache: Path, *networks: str) -> None:
    """Let a daemon with this cache have started and made networks."""
    monkeypatch.setenv("DRAYMAN_CACHE", str(cache))
    dockerd.note_root()
    database = cache / "docker/network/files/local-kv.db"
    database.parent.mkdir(parents=True, exist_ok=True)
    database.write_text(" ".join(networks))


def test_bridges_of_a_daemon_that_was_started_with_another_cache_are_found(
    dockerd: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(dockerd, monkeypatch, tmp_path / "theirs", "2222")
    monkeypatch.setenv("DRAYMAN_CACHE", str(tmp_path / "ours"))
    assert dockerd.bridges() == ["drayman0", "br-2222"]
    assert dockerd.roots() == [tmp_path / "theirs/docker"]


def test_bridges_of_a_killed_daemon_are_found_after_another_one_has_started(
    dockerd: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(dockerd, monkeypatch, tmp_path / "first", "1111")
    start(dockerd, monkeypatch, tmp_path / "second", "3333")
    start(dockerd, monkeypatch, tmp_path / "first", "1111")
    assert sorted(dockerd.bridges()) == ["br-1111", "br-3333", "drayman0"]
    assert dockerd.roots() == [tmp_path / "second/docker", tmp_path / "first/docker"]
