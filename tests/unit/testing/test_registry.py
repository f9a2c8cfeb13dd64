from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from drayman.errors import InputError
from drayman.kube.config import ServerConfig
from drayman.testing.clusters import registry

SERVER = ServerConfig(url="https://127.0.0.1:1", token="secret")


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def entry(name: str, *, pid: int, started: str) -> registry.Entry:
    return registry.Entry(name, "fake", "1.37", 2, SERVER.url, "2026-01-01T00:00:00Z", pid, started)


def living(name: str) -> registry.Entry:
    return entry(name, pid=os.getpid(), started=registry.process_start(os.getpid()) or "")


def test_recorded_cluster_is_found_with_its_kubeconfig_for_its_owner_only() -> None:
    registry.record(living("test"), SERVER)
    assert registry.running() == [living("test")]
    assert registry.kubeconfig("test").stat().st_mode & 0o777 == 0o600


def test_cluster_whose_process_id_belongs_to_another_process_does_not_count() -> None:
    registry.record(entry("test", pid=os.getpid(), started="1"), SERVER)
    assert registry.running() == []
    with pytest.raises(InputError) as caught:
        registry.existing("test")
    assert (str(caught.value), caught.value.hint) == ("no cluster `test` is running", "drayman cluster up")


def test_missing_cluster_is_refused_with_those_that_run() -> None:
    registry.record(living("other"), SERVER)
    with pytest.raises(InputError) as caught:
        registry.existing("test")
    assert caught.value.hint == "running: `other`"


@pytest.mark.parametrize("name", ["", "../x", "A", "-a", "a" * 60])
def test_name_that_would_not_be_a_safe_folder_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="is not a name for a cluster"):
        registry.folder(name)


def test_entry_that_is_no_json_counts_as_absent() -> None:
    registry.record(living("test"), SERVER)
    (registry.folder("test") / "cluster.json").write_text("{")
    assert registry.find("test") is None


def test_name_that_is_reserved_is_refused_and_its_folder_stays_until_the_end() -> None:
    with registry.reserved("test"):
        registry.record(living("test"), SERVER)
        with pytest.raises(InputError) as caught, registry.reserved("test"):
            pass
        registry.forget("test")
        assert registry.find("test") == living("test")
    assert str(caught.value) == "another process starts or runs a cluster `test`"


def test_reserved_name_leaves_nothing_and_can_be_taken_again(state_home: Path) -> None:
    for _ in range(2):
        with registry.reserved("test"):
            registry.record(living("test"), SERVER)
        assert list((state_home / "drayman" / "clusters").iterdir()) == []


def test_clusters_whose_process_was_killed_are_forgotten_and_others_are_not() -> None:
    registry.record(entry("killed", pid=os.getpid(), started="1"), SERVER)
    registry.record(living("test"), SERVER)
    starting = registry.folder("starting").with_suffix(".lock")
    starting.touch()
    registry.forget_killed()
    assert not starting.exists()
    assert registry.last("killed") is None
    assert not registry.folder("killed").exists()
    assert registry.running() == [living("test")]


def test_cluster_that_stays_counts_without_its_process() -> None:
    stays = dataclasses.replace(entry("test", pid=os.getpid(), started="1"), stays=True)
    registry.record(stays, SERVER)
    assert registry.running() == [stays]
    assert not stays.attended()
    registry.ask_to_end(stays)  # nobody is there to be told


def test_folder_stays_for_as_long_as_the_cluster_has_something_outside_of_it() -> None:
    with registry.reserved("test"):
        registry.note("test", {"backend": "kind", "cluster": "drayman-test"})
        registry.record(entry("test", pid=os.getpid(), started="1"), SERVER)
    registry.forget_killed()
    assert registry.noted("test") == {"backend": "kind", "cluster": "drayman-test"}
    assert (registry.left_behind("kind"), registry.left_behind("fake")) == (["test"], [])

    registry.erase_note("test")
    registry.forget_killed()
    assert (registry.noted("test"), registry.folder("test").exists()) == (None, False)
    assert registry.left_behind("kind") == []


def test_running_cluster_leaves_nothing_behind_yet() -> None:
    registry.record(living("test"), SERVER)
    registry.note("test", {"backend": "kind"})
    assert registry.left_behind("kind") == []
