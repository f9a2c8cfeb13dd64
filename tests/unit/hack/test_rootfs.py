"""Base and node image are made again when, and only when, something that they are made of has changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hack.kind import engine, parts, rootfs

if TYPE_CHECKING:
    from collections.abc import Callable

NODE_IMAGE = Path(__file__).parents[3] / "hack/kind/node-image"


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str] | None], None]:
    """Return what gives the stand-in of docker an image with the labels."""
    (tmp_path / "docker").write_text(f"#!/bin/sh\ncat {tmp_path}/answer && exit 0\necho No such image: x >&2; exit 1\n")
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def put(labels: dict[str, str] | None) -> None:
        (tmp_path / "answer").write_text(json.dumps([{"Config": {"Labels": labels}}]))

    return put


def test_an_image_of_the_same_inputs_stays(docker: Callable[[dict[str, str] | None], None]) -> None:
    docker({engine.INPUTS: "abc"})
    assert rootfs.why_not("drayman/x:1", "abc") == ""


@pytest.mark.parametrize(("labels", "made_of"), [({engine.INPUTS: "old"}, "old"), (None, "something else")])
def test_an_image_of_other_inputs_is_made_again(
    docker: Callable[[dict[str, str] | None], None], labels: dict[str, str] | None, made_of: str
) -> None:
    docker(labels)
    assert rootfs.why_not("drayman/x:1", "abc") == f"drayman/x:1 is made of {made_of[:12]}, not of abc"


@pytest.mark.usefixtures("docker")
def test_a_missing_image_is_made() -> None:
    assert rootfs.why_not("drayman/x:1", "abc") == "there is no drayman/x:1"


def test_other_packages_make_another_root() -> None:
    assert rootfs.recipe(("a", "b")) == rootfs.recipe(["a", "b"])
    assert rootfs.recipe(("a", "b")) not in (rootfs.recipe(("a",)), rootfs.recipe(("ab",)), rootfs.recipe(("b", "a")))


def test_a_node_image_is_made_of_its_programs(tmp_path: Path) -> None:
    node_image = parts.module_of(NODE_IMAGE)
    program = tmp_path / "kubelet"
    program.write_text("one")
    before = node_image.inputs_of({"kubelet": program})
    assert node_image.inputs_of({"kubelet": program}) == before
    program.write_text("two")
    assert node_image.inputs_of({"kubelet": program}) != before
