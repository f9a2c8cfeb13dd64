"""Running a scheduler, and who of several does."""

from __future__ import annotations

import asyncio
import logging
import socket
import uuid
from collections.abc import Iterable
from random import Random, SystemRandom
from typing import TYPE_CHECKING

from drayman.errors import APIStatusError
from drayman.framework import PluginClass
from drayman.kube import resources
from drayman.kube.election import Elector
from drayman.scheduler.assembly import Assembly
from drayman.scheduler.configuration import Configuration
from drayman.scheduler.vitals import Vitals

if TYPE_CHECKING:
    from drayman.clock import Clock
    from drayman.kube.client import Client

log = logging.getLogger(__name__)


async def run(
    client: Client,
    configuration: Configuration,
    clock: Clock,
    *,
    random: Random | None,
    plugins: Iterable[PluginClass] = (),
    vitals: Vitals | None = None,
    identity: str | None = None,
) -> None:
    """Schedule the pods of the profiles of `configuration` until cancelled, with leader election while this one leads.

    All truth is in the API server: a scheduler that is stopped at any point is continued by the next one. `random`
    breaks ties between nodes, None takes the first; `plugins` are used besides the built-in and installed ones;
    `vitals` learns how the scheduler is; `identity` tells candidates for the lead apart. Raises
    :class:`~drayman.errors.InputError` when the configuration names plugins or gates that do not exist,
    `ConnectionError` when the API server cannot be reached at the start (later it is waited for), and an exception
    group with :class:`~drayman.kube.election.LeadershipLostError` when the lead was lost.
    """
    settings = configuration.settings()
    vitals = vitals or Vitals(clock, configuration)
    elector = vitals.elector = _elector(client, configuration, clock, random, identity)
    assembly = Assembly(client, configuration, settings, clock, random, plugins)
    if not await _serves_taint_rules(client, settings.features):
        del assembly.informers["DeviceTaintRule"]
    vitals.informers = assembly.informers
    is_delayed = elector is not None and configuration.delay_cache_until_active
    async with asyncio.TaskGroup() as group:

        async def schedule() -> None:
            if is_delayed:
                await assembly.watch(group)
            log.info("scheduling pods of %s", _served(configuration))
            await assembly.schedule(vitals)

        group.create_task(assembly.events.run(), name="events")
        try:
            if not is_delayed:
                await assembly.watch(group)
            await (schedule() if elector is None else elector.lead(schedule))
        finally:
            vitals.is_ending = True
            assembly.close()


def _elector(
    client: Client, configuration: Configuration, clock: Clock, random: Random | None, identity: str | None
) -> Elector | None:
    """Return this scheduler as a candidate; None where nobody is elected. Raises :class:`InputError`."""
    if not configuration.leader_election.leader_elect:
        return None
    source = random or SystemRandom()
    return Elector(
        client,
        clock,
        configuration.leader_election,
        identity=identity or f"{socket.gethostname()}_{uuid.UUID(int=source.getrandbits(128), version=4)}",
        random=source,
        component=configuration.profiles[0].scheduler_name,
    )


async def _serves_taint_rules(client: Client, features: frozenset[str]) -> bool:
    """Ask whether there are DeviceTaintRules: before Kubernetes 1.37 they are not in the version that is read here."""
    if "DRADeviceTaintRules" not in features:
        return False
    try:
        await client.list(resources.TAINT_RULES)
    except APIStatusError as error:
        if error.code != 404:
            raise
        log.warning("the API server has no DeviceTaintRules in %s", resources.TAINT_RULES.api_version)
        return False
    return True


def _served(configuration: Configuration) -> str:
    names = ", ".join(profile.scheduler_name for profile in configuration.profiles)
    return "every scheduler" if configuration.serve_all else names
