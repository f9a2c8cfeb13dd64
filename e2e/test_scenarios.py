"""Every scenario ends as it says, alone and in one cluster with the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drayman.testing import scenario

if TYPE_CHECKING:
    from e2e.stage import Stage

    from drayman.testing.scenario import Scenario

SCENARIOS = scenario.shipped()


@pytest.mark.parametrize("played", SCENARIOS, ids=lambda one: one.name)
async def test_scenario_ends_as_it_says(played: Scenario, stage: Stage) -> None:
    if missing := played.unmet(stage.offer):
        pytest.skip(f"{played.name} {missing}")

    assert await stage.play(played) == ()


async def test_scenarios_in_one_cluster_leave_nothing_behind(stage: Stage) -> None:
    if stage.is_shared:
        pytest.skip("all scenarios have just been played in one cluster")
    deviations = {}
    for played in SCENARIOS:
        if played.unmet(stage.offer) is None:
            deviations[played.name] = await stage.play(played)
            await stage.clean_up(played)

    assert deviations == dict.fromkeys(deviations, ())
