from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from drayman.testing import scenario

if TYPE_CHECKING:
    from tests.unit.cli.conftest import CommandLine


def test_scenarios_are_listed_with_what_they_show(drayman: CommandLine) -> None:
    result = drayman.run("demo", "--list")
    assert (result.code, result.err) == (0, "")
    first, *rows = result.out.splitlines()
    assert first.split(maxsplit=1) == ["SCENARIO", "WHAT IT SHOWS"]
    assert max(map(len, rows)) <= 100
    shown = [f"{one.name} {one.title}" for one in scenario.shipped()]
    assert " ".join(" ".join(rows).split()) == " ".join(shown)


def test_list_of_some_scenarios_has_those(drayman: CommandLine) -> None:
    result = drayman.run("demo", "--list", "--only", "single-claim")
    assert [row.split()[0] for row in result.out.splitlines()] == ["SCENARIO", "single-claim"]


def test_unknown_scenario_is_refused(drayman: CommandLine) -> None:
    result = drayman.run("demo", "--only", "nope")
    assert (result.code, result.err) == (1, "error: there is no scenario `nope`\nhint: drayman demo --list\n")


def test_one_scenario_runs_and_the_cluster_is_gone_afterwards(
    drayman: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(drayman.folder))
    result = drayman.run("demo", "--only", "no-node-has-enough")
    (shown,) = [one for one in scenario.shipped() if one.name == "no-node-has-enough"]
    assert (result.code, result.err) == (0, "")
    assert f"== 1/1 no-node-has-enough: {shown.title}" in result.out.splitlines()
    assert "as expected" in result.out.splitlines()
    assert result.out.endswith("\n== 1 of 1 scenarios ended as they say\n")
    assert list((drayman.folder / "drayman" / "clusters").iterdir()) == []


def test_scenario_that_does_not_end_as_it_says_fails_the_demo(
    drayman: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(drayman.folder))
    play = scenario.run

    async def disappoint(one: scenario.Scenario, backend: scenario.Backend) -> scenario.Result:
        return dataclasses.replace(await play(one, backend), deviations=("pod x: no node",))

    monkeypatch.setattr(scenario, "run", disappoint)
    result = drayman.run("demo", "--only", "single-claim")
    assert (result.code, result.err) == (1, "")
    assert "NOT AS EXPECTED: pod x: no node" in result.out.splitlines()
    assert result.out.endswith("== 0 of 1 scenarios ended as they say\nnot as expected: single-claim\n")
