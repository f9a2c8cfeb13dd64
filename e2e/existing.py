"""Scenarios on a cluster that others use, too: under names of their run, and in turns with other runs."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from typing import TYPE_CHECKING, Self

import pytest
from e2e.stage import LiveStage

from drayman.clock import RealClock
from drayman.testing import scenario
from drayman.testing.clusters import registry
from drayman.testing.clusters.existing import gates
from drayman.testing.clusters.existing.renaming import DRIVER, Casting, cast, unmovable
from drayman.testing.clusters.existing.run import Run
from drayman.testing.clusters.existing.turns import Turns
from drayman.testing.clusters.live import Live
from drayman.testing.scenario import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractAsyncContextManager

    from e2e.started import Started

    from drayman.kube.client import Client
    from drayman.testing.scenario import Scenario

BACKEND = "existing"
OPTIONS = ("kubeconfig", "context", "driver", "driver_image", "test_image")


def add_options(group: pytest.OptionGroup) -> None:
    """Add what `drayman cluster up --backend existing` is given, too."""
    group.addoption("--kubeconfig", help="of the backend existing (default: as kubectl finds it)")
    group.addoption("--context", help="of the kubeconfig")
    group.addoption(
        "--driver", choices=("installed", "install"), help="the mock driver that is there, or the run's own"
    )
    group.addoption("--driver-image", help="image of a driver that is installed for the run")
    group.addoption("--test-image", help="image of the scenarios' containers")
    group.addoption("--plan", action="store_true", help="say what would be created in the cluster, and create nothing")


def arguments(config: pytest.Config) -> tuple[str, ...]:
    """Return the options that were given, as arguments of `cluster up`."""
    given = [(name, config.getoption(f"--{name.replace('_', '-')}")) for name in OPTIONS]
    named = [part for name, value in given if value for part in (f"--{name.replace('_', '-')}", value)]
    return ("--scenarios", *named)


def given(config: pytest.Config) -> list[str]:
    """Return the options of this backend that were given."""
    names = [f"--{name.replace('_', '-')}" for name in (*OPTIONS, "plan")]
    return [name for name in names if config.getoption(name)]


def plan(scheduler: str, given: Sequence[str]) -> int:
    """Print the plan of a run; return the exit code."""
    command = [sys.executable, "-m", "drayman", "cluster", "up", "--backend", BACKEND, "--plan"]
    return subprocess.run([*command, "--scheduler", scheduler, *given], check=False).returncode


class ExistingStage(LiveStage):
    """A cluster that is there, with a run in it."""

    def __init__(self, backend: Live, started: Started, request: pytest.FixtureRequest, on: frozenset[str]) -> None:
        super().__init__(backend, started, request)
        noted = registry.noted(started.name)
        assert noted is not None
        self._run = Run(noted["run"])
        self._scheduler = noted["scheduler"]
        self._driver = noted["driver"]
        nodes = noted["nodes"].split(",")
        self._casting = Casting(self._run, noted["driver"], noted["image"], nodes if noted["narrowed"] else ())
        self.offer = Offer(nodes=len(nodes), gates=on, version=noted["kubernetes"], root=True)

    @classmethod
    async def ready(cls, client: Client, started: Started, request: pytest.FixtureRequest) -> Self:
        noted = registry.noted(started.name)
        assert noted is not None
        needed = {gate for one in scenario.shipped() for gate in one.needs.get("gates", ())}
        on = await gates.on(client, needed, Run(noted["run"]).namespace, noted["kubernetes"])
        return cls(Live(client, RealClock()), started, request, on)

    async def play(self, played: Scenario) -> tuple[str, ...]:
        if reason := unmovable(played):
            pytest.skip(f"{played.name} {reason}")
        async with self._turn():
            return await super().play(cast(played, self._casting))

    def _turn(self) -> AbstractAsyncContextManager[None]:
        """Have the driver's devices alone: they are not this run's, unless the driver is."""
        if self._driver != DRIVER:
            return contextlib.nullcontext()
        return Turns(self.live.client, RealClock(), self._run, self._driver).turn()
