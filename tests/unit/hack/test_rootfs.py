"""An image is made again when, and only when, something that it is made of has changed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "hack/kind"))
import rootfs


@pytest.fixture
def docker(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Stand in for docker: answer to `image inspect` what the test puts here."""
    answer: dict[str, Any] = {"returncode": 0, "stdout": "", "stderr": ""}
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], **answer))
    return answer


def test_digest_is_of_contents_and_not_of_places(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("content")
    two.write_text("content")
    assert rootfs.digest(one, ("a", "b")) == rootfs.digest(two, ("a", "b"))
    two.write_text("changed")
    different = [rootfs.digest(two, ("a", "b")), rootfs.digest(one, ("ab",)), rootfs.digest(("a", "b"), one)]
    assert rootfs.digest(one, ("a", "b")) not in different


def test_an_image_of_the_same_inputs_stays(docker: dict[str, Any]) -> None:
    docker["stdout"] = json.dumps({rootfs.INPUTS: "abc"})
    assert rootfs.why_not("drayman/x:1", "abc") == ""


@pytest.mark.parametrize(("labels", "made_of"), [({rootfs.INPUTS: "old"}, "old"), (None, "something else")])
def test_an_image_of_other_inputs_is_made_again(
    docker: dict[str, Any], labels: dict[str, str] | None, made_of: str
) -> None:
    docker["stdout"] = json.dumps(labels)
    assert rootfs.why_not("drayman/x:1", "abc") == f"drayman/x:1 is made of {made_of}, not of abc"


def test_a_missing_image_is_made(docker: dict[str, Any]) -> None:
    docker.update(returncode=1, stderr="Error: No such image: drayman/x:1")
    assert rootfs.why_not("drayman/x:1", "abc") == "there is no drayman/x:1"


def test_without_a_daemon_the_hint_says_how_to_get_one(docker: dict[str, Any]) -> None:
    docker.update(returncode=1, stderr="Cannot connect to the Docker daemon at unix:///var/run/docker.sock.")
    with pytest.raises(SystemExit) as ended:
        rootfs.why_not("drayman/x:1", "abc")
    assert str(ended.value).splitlines() == [
        "error: docker does not answer: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.",
        "hint: hack/kind/dockerd start",
    ]
