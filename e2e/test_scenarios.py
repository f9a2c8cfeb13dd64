"""Every scenario ends as it says, alone and in one cluster with the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drayman.testing import scenario

if TYPE_CHECKING:
    from drayman.testing.scenario import Backend, Offer, Scenario

SCENARIOS = scenario.shipped()


@pytest.mark.parametrize("played", SCENARIOS, ids=lambda one: one.name)
async def test_scenario_ends_as_it_says(played: Scenario, backend: Backend, offer: Offer) -> None:
    if missing := played.unmet(offer):
        pytest.skip(f"{played.name} {missing}")

    result = await scenario.run(played, backend)

    assert result.deviations == ()


async def test_scenarios_in_one_cluster_leave_nothing_behind(backend: Backend, offer: Offer) -> None:
    deviations = {}
    for played in SCENARIOS:
        if played.unmet(offer) is None:
            result = await scenario.run(played, backend)
            deviations[played.name] = result.deviations
            await scenario.clean_up(played, backend)

    assert deviations == dict.fromkeys(deviations, ())
