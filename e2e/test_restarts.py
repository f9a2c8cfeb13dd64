"""The scheduler killed and the driver restarted in the middle of a Job: nothing is lost, nothing is left.

Needs a cluster in which they can be restarted: pods (`--backend=kind`) or processes (`--backend=local`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from e2e.ground import OURS, claims_of
from e2e.installed import DRIVER, SCHEDULER
from e2e.workloads import claim, job, pod, template

from drayman.kube.resources import SLICES
from drayman.testing import invariants

if TYPE_CHECKING:
    from collections.abc import Mapping

    from e2e.ground import Ground, Space

COMPLETIONS = 9
PARALLELISM = 5
"""More pods than fit: each has two devices of its own, all are where a shared one is, and a node has eight."""


async def test_scheduler_killed_in_the_middle_of_a_job(ground: Ground) -> None:
    ground.need_restarts_of(SCHEDULER)
    async with ground.watched() as watched, ground.space("killed") as space:
        await _survives_a_killed_scheduler(ground, space)

    # Each claim is made, allocated and freed, in one write each at least.
    assert watched.states > 3 * COMPLETIONS


async def test_leader_killed_in_the_middle_of_a_job(ground: Ground) -> None:
    """The replica that stood by goes on, without waiting for a new pod."""
    async with ground.installed.replicated(2), ground.watched(), ground.space("led") as space:
        before = await ground.installed.leader()
        await _survives_a_killed_scheduler(ground, space)

        async def is_another() -> bool:
            return await ground.installed.leader() not in (None, before)

        await space.until(f"nobody leads after {before}", is_another)


async def test_driver_restarted_in_the_middle_of_a_job(ground: Ground) -> None:
    ground.need_restarts_of(DRIVER)
    async with ground.watched(), ground.changes(SLICES) as changes, ground.space("updated") as space:
        await space.apply(template("kept", 1), pod("keeps", OURS, templates=("kept",)))
        pods = await space.until_running("keeps")
        (kept,) = claims_of(pods["keeps"], await space.claims())
        node, file = pods["keeps"]["spec"]["nodeName"], f"k8s.gpu.example.com-gpu_{kept['metadata']['uid']}.json"
        published = await ground.devices()
        await _start(space, PARALLELISM)
        await space.until_job_has("frames", 1)
        before = await space.job("frames")
        await ground.installed.restart_driver()
        await _ends_whole(space, PARALLELISM)
        assert await ground.devices() == published
        assert changes == []
        files = await ground.installed.cdi_files()
        assert (_of_claims(files), file in files[node]) == ({file}, True)

        await space.delete("Pod", "keeps")
        assert _of_claims(await ground.installed.cdi_files()) == set()

    assert before["succeeded"] < PARALLELISM, "the Job was over before the driver was restarted"


async def _survives_a_killed_scheduler(ground: Ground, space: Space) -> None:
    await _start(space, COMPLETIONS)
    await space.until_job_has("frames", 1)
    bound = [name for name, one in (await space.pods()).items() if one["spec"].get("nodeName")]
    await ground.installed.kill_scheduler()
    await _ends_whole(space, COMPLETIONS)
    assert len(bound) < COMPLETIONS, "nothing was left for the scheduler that came after"


async def _start(space: Space, completions: int) -> None:
    own, shared = template("own", 2), claim("shared", 1)
    work = job("frames", OURS, completions=completions, parallelism=PARALLELISM, templates=("own",), claims=("shared",))
    await space.apply(own, shared, work)


async def _ends_whole(space: Space, completions: int) -> None:
    """Wait for the end of the Job: no pod has failed, no claim is left but the shared one, which nobody has."""
    await space.until_job_has("frames", completions)
    assert await space.job("frames") == {"succeeded": completions, "failed": 0, "active": 0}
    pods = {name: one for name, one in (await space.pods()).items() if name.startswith("frames-")}
    assert {one["status"]["phase"] for one in pods.values()} == {"Succeeded"}
    assert len(pods) == completions

    async def is_free() -> bool:
        claims = await space.claims()
        own = [name for name in claims if name.startswith("frames-")]
        return not own and not (claims["shared"].get("status") or {}).get("allocation")

    await space.until("the Job's claims are still held", is_free)
    claims, now = await space.claims(), await space.pods()
    assert invariants.stale_reservations(claims.values(), now.values()) == []
    assert invariants.unfounded_pods(now.values(), claims.values()) == []


def _of_claims(files: Mapping[str, frozenset[str]]) -> set[str]:
    """Return the files of claims, on all nodes: each node has one more, for all of them."""
    return {name for names in files.values() for name in names if not name.endswith("_common.json")}
