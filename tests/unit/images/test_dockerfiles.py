"""The Dockerfiles keep to what clusters ask of images: pinned bases, numeric users, commands without a shell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "e2e/images"
DOCKERFILES = sorted(FOLDER.glob("*/Dockerfile"))


def instructions(name: str) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile and their arguments, continued lines joined."""
    text = (FOLDER / name / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in lines]


def test_there_is_one_for_each_part() -> None:
    assert [path.parent.name for path in DOCKERFILES] == ["driver", "scheduler"]


@pytest.mark.parametrize("name", ["scheduler", "driver"])
def test_images_are_what_clusters_ask_for(name: str) -> None:
    said = instructions(name)
    last_stage = said[max(index for index, (what, _) in enumerate(said) if what == "FROM") :]
    values = dict(last_stage)

    assert re.fullmatch(r"\d+:\d+", values["USER"])
    assert json.loads(values["ENTRYPOINT"]) == ["drayman", name]
    assert "PYTHONUNBUFFERED=1" in values["ENV"]
    for label in ("title", "description", "version", "licenses", "base.name"):
        assert f"org.opencontainers.image.{label}=" in values["LABEL"]
    assert "RUN" not in values


def test_the_scheduler_is_not_root() -> None:
    assert dict(instructions("scheduler"))["USER"] == "65532:65532"


@pytest.mark.parametrize("name", ["scheduler", "driver"])
def test_nothing_is_fetched_and_no_version_is_left_open(name: str) -> None:
    said = instructions(name)

    assert "ADD" not in dict(said)
    assert not re.search(r"https?://|:latest", " ".join(arguments for _, arguments in said))
    assert {arguments.split()[0] for what, arguments in said if what == "FROM"} == {"${BASE_IMAGE}"}
    (base,) = (arguments for what, arguments in said if what == "ARG" and arguments.startswith("BASE_IMAGE="))
    assert re.fullmatch(r"BASE_IMAGE=[\w./-]+:\d[\w.-]+", base)
