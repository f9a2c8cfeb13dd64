"""What is right has no findings."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from drayman.driver import catalogue
from drayman.lint import lint

SCENARIOS = Path(__file__).resolve().parents[3] / "e2e" / "scenarios"
FILES = sorted(path for path in SCENARIOS.glob("*/*.yaml") if path.name != "expect.yaml")


def test_there_are_scenarios() -> None:
    assert len(FILES) >= 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_scenario_is_clean(path: Path) -> None:
    assert lint([(path.name, path.read_text())]) == []


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_what_the_mock_driver_publishes_is_clean(name: str) -> None:
    profile = catalogue.profile(name)
    assert lint([("node.yaml", yaml.safe_dump_all([profile.device_class(), *profile.slices("node-1")]))]) == []
