"""What is right has no findings."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from drayman import cli
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


def test_the_hooks_for_pre_commit_run_the_command_as_it_is() -> None:
    hooks = yaml.safe_load((SCENARIOS.parents[1] / ".pre-commit-hooks.yaml").read_text())
    for hook in hooks:
        program, *arguments = hook["entry"].split()
        parsed = cli.parser(["lint"], prog=program).parse_args([*arguments, "claim.yaml"])
        assert (program, parsed.verb, parsed.files) == ("drayman", "lint", ["claim.yaml"])
