"""The lock files of the images: what their extras need, no more, and in the versions that are tested."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from hack import locks
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[3]
_REQUIREMENT = re.compile(r"^([\w.-]+)==(\S+)(?: ; ([^\\]+?))? \\$", re.MULTILINE)


def locked(name: str) -> dict[str, tuple[str, set[str]]]:
    """Return the version and the hashes of each package of a lock file."""
    found: dict[str, tuple[str, set[str]]] = {}
    for block in re.split(r"\n(?=\S)", (ROOT / "requirements" / f"{name}.txt").read_text()):
        requirement = _REQUIREMENT.match(block)
        assert requirement, block
        found[requirement[1]] = (requirement[2], set(re.findall(r"--hash=(sha256:[0-9a-f]{64})", block)))
    return found


def needed(extra: str) -> set[str]:
    """Return the packages that an extra needs here, without those that are left out and what only they need."""
    found: set[str] = set()
    todo = [Requirement(line) for line in declared(extra)]
    while todo:
        name = normal(todo.pop().name)
        if name in found or name in locks.LEFT_OUT:
            continue
        found.add(name)
        inner = [Requirement(line) for line in metadata.requires(name) or []]
        todo += [one for one in inner if one.marker is None or one.marker.evaluate({"extra": ""})]
    return found


def declared(extra: str) -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [*project["dependencies"], *project["optional-dependencies"][extra]]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("image", locks.IMAGES)
def test_an_image_has_the_packages_of_its_extra(image: str) -> None:
    # `typing-extensions` is locked for older Pythons, too.
    assert set(locked(image)) | {"typing-extensions"} == needed(locks.IMAGES[image]) | {"typing-extensions"}


@pytest.mark.parametrize("image", locks.IMAGES)
def test_an_image_has_the_versions_that_are_tested(image: str) -> None:
    tested = locked("all")

    for name, pinned in locked(image).items():
        assert pinned == tested[name]
        assert pinned[1]


def test_what_is_left_out_is_in_an_extra() -> None:
    named = {normal(Requirement(line).name) for extra in locks.IMAGES.values() for line in declared(extra)}

    assert set(locks.LEFT_OUT) <= named


def test_pip_is_locked_and_in_no_image() -> None:
    assert set(locked("pip")) == {"pip"}
    assert not any("pip" in locked(image) for image in locks.IMAGES)
