"""Clusters for the scenarios: `--backend` chooses which, `--scheduler` who schedules there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from e2e import existing, installed
from e2e.existing import ExistingStage
from e2e.ground import Ground
from e2e.stage import LiveStage, Stage, VirtualStage
from e2e.started import Chosen, Started

from drayman.testing.clusters import registry

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

NODES = 2
KEPT = pytest.StashKey[str]()
"""The cluster that is left when the tests have ended."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("e2e", "scenarios on clusters")
    group.addoption(
        "--backend", choices=("fake", "local", "kind", "existing"), default="fake", help="cluster to run scenarios on"
    )
    group.addoption(
        "--scheduler", choices=("drayman", "upstream", "both"), default="drayman", help="who schedules there"
    )
    group.addoption(
        "--kubelet", choices=("auto", "real", "fake"), default="auto", help="of the backend local; real needs root"
    )
    group.addoption("--keep", action="store_true", help="leave the cluster of the backend kind when the tests end")
    group.addoption("--kubernetes-version", default="", help="of the backend kind (default: the newest)")
    existing.add_options(group)


def pytest_cmdline_main(config: pytest.Config) -> int | None:
    chosen = _chosen(config)
    if chosen.backend != existing.BACKEND and (given := existing.given(config)):
        raise pytest.UsageError(f"{given[0]} is about a cluster that is there already: --backend=existing")
    if not config.getoption("--plan"):
        return None
    return existing.plan(chosen.scheduler, chosen.options)


def pytest_report_header(config: pytest.Config) -> str:
    return f"scenarios: on {_chosen(config)}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    reports = terminalreporter.getreports
    passed, failed, skipped = (
        sum("e2e/" in report.nodeid for report in reports(outcome)) for outcome in ("passed", "failed", "skipped")
    )
    terminalreporter.write_line(f"scenarios on {_chosen(config)}: {passed} passed, {failed} failed, {skipped} skipped")
    if name := config.stash.get(KEPT, None):
        terminalreporter.write_line(f"export KUBECONFIG={registry.kubeconfig(name)}")
        terminalreporter.write_line(f"cluster `{name}` is still running: drayman cluster down {name} deletes it")


@pytest.fixture(scope="session")
def started(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started | None]:
    """The one running cluster of the session; None where each test has its own embedded one."""
    chosen = _chosen(request.config)
    if chosen.is_virtual:
        yield None
        return
    logs = tmp_path_factory.mktemp("cluster")
    cluster = Started(chosen, logs)
    with cluster:
        yield cluster
    if request.config.getoption("--keep"):
        request.config.stash[KEPT] = cluster.name


@pytest.fixture
async def stage(started: Started | None, request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    """What scenarios are played on."""
    if started is None:
        with VirtualStage(NODES) as virtual:
            yield virtual
        return
    async with started.connected() as client:
        kind = ExistingStage if started.chosen.backend == existing.BACKEND else LiveStage
        yield await kind.ready(client, started, request)


@pytest.fixture
async def ground(started: Started | None, request: pytest.FixtureRequest) -> AsyncIterator[Ground]:
    """A running cluster of which tests know who scheduled and what was restarted."""
    if started is None:
        pytest.skip("the cluster is embedded in the tests: nothing is installed in it")
    if started.chosen.backend == existing.BACKEND:
        pytest.skip("others use the cluster, too: nothing is stopped or counted there")
    if started.chosen.scheduler == "upstream":
        pytest.skip("drayman's scheduler does not run here")
    async with started.connected() as client:
        stage = await LiveStage.ready(client, started, request)
        chosen = started.chosen
        parts = installed.of(stage.live, started)
        yield Ground(stage, parts, rival=chosen.has_rival, knows_writers=chosen.backend != "fake")


def _chosen(config: pytest.Config) -> Chosen:
    kubelet = config.getoption("--kubelet")
    if kubelet == "auto":
        kubelet = "real" if os.geteuid() == 0 else "fake"
    backend = config.getoption("--backend")
    options = existing.arguments(config) if backend == existing.BACKEND else ()
    if config.getoption("--keep"):
        options = (*options, "--keep")
    version = config.getoption("--kubernetes-version")
    if version:
        options = (*options, "--kubernetes-version", version)
    return Chosen(backend, config.getoption("--scheduler"), kubelet, options)
