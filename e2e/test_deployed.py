"""Scheduler and driver in the cluster where they are installed: what pods get, who decides, what is said to the others.

Needs a cluster that runs beside the tests; best one where scheduler and driver are pods (`--backend=kind`).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from e2e.ground import MANAGERS, OURS, THEIRS, claims_of, devices_of, reporters, writers
from e2e.installed import SCHEDULER, is_control_plane
from e2e.workloads import claim, device_class, pod, template

from drayman.testing import invariants

if TYPE_CHECKING:
    from e2e.ground import Ground

TOO_MANY = 9


async def test_every_device_of_the_workers_is_in_a_container(ground: Ground) -> None:
    """Two pods share the devices of each worker; what their containers see is what was allocated."""
    devices = await ground.devices()
    nodes = await ground.nodes()
    assert not any(is_control_plane(nodes[name]) for name in devices)
    (count,) = {len(names) for names in devices.values()}
    names = [f"half-{number}" for number in range(2 * len(devices))]

    async with ground.watched(), ground.space("all-devices") as space:
        await space.apply(template("gpus", count // 2), *(pod(name, OURS, templates=("gpus",)) for name in names))
        pods = await space.until_running(*names)
        claims = await space.claims()

        assert {one["spec"]["nodeName"] for one in pods.values()} == set(devices)
        assert devices_of(claims.values()) == sorted((node, name) for node in devices for name in devices[node])
        assert invariants.unfounded_pods(pods.values(), claims.values()) == []
        for name, one in pods.items():
            allocated = [device for _, device in devices_of(claims_of(one, claims))]
            assert await space.printed(name, "KUBERNETES_NODE_NAME=(.*)") == [one["spec"]["nodeName"]]
            assert sorted(await space.printed(name, r"GPU_DEVICE_\d+=(.*)")) == allocated


async def test_pod_that_cannot_run_is_told_why(ground: Ground) -> None:
    devices, nodes = await ground.devices(), await ground.nodes()
    tainted, total = len(nodes) - len(devices), len(nodes)
    others = f"{tainted} node(s) had untolerated taint(s), " if tainted else ""
    async with ground.space("too-many") as space:
        await space.apply(claim("gpus", TOO_MANY), pod("greedy", OURS, claims=("gpus",)))
        condition = await space.until_refused("greedy")
        events = await space.until_said("FailedScheduling", "greedy")

    text = (
        f"0/{total} nodes are available: {others}{len(devices)} cannot allocate all claims. "
        f"preemption: 0/{total} nodes are available: {total} Preemption is not helpful for scheduling. "
        "drayman: claim `too-many/gpus`, request `gpus` needs 9 devices of class `gpu.example.com`, 8 of 8 can be used"
        "; hint: ask for at most 8 devices in request `gpus` of claim `too-many/gpus`"
    )
    assert (condition["reason"], condition["message"]) == ("Unschedulable", text)
    assert [(event["type"], event["note"]) for event in events] == [("Warning", text)]


async def test_pods_of_kube_scheduler_are_its_own(ground: Ground) -> None:
    """Ours writes nothing on them, neither while it runs nor when it is new and sees them all at once."""
    ground.need_rival()
    ground.need_restarts_of(SCHEDULER)
    async with ground.space("not-ours") as space:
        await space.apply(template("gpu", 1), claim("too-many", TOO_MANY))
        await space.apply(pod("plain", THEIRS), pod("with-gpu", THEIRS, templates=("gpu",)))
        await space.apply(pod("greedy", THEIRS, claims=("too-many",)))
        await space.until_running("plain", "with-gpu")
        refused = await space.until_refused("greedy")
        await space.until_said("FailedScheduling", "greedy")
        await ground.installed.kill_scheduler()
        # When the new one has placed a pod of its own, it has seen the others, too. One after the other: who allocates
        # at the same moment may choose the same device.
        await space.apply(pod("ours", OURS, templates=("gpu",)))
        await space.until_running("ours")
        await space.apply(pod("later", THEIRS, templates=("gpu",)))
        pods = await space.until_running("later")
        claims, events = await space.claims(), await space.events()
        assert await space.until_refused("greedy") == refused

    assert "drayman" not in refused["message"]
    scheduled = reporters(events, "Scheduled")
    assert scheduled == {"ours": {OURS}, **{name: {THEIRS} for name in ("plain", "with-gpu", "later")}}
    assert reporters(events, "FailedScheduling") == {"greedy": {THEIRS}}
    for name in ("plain", "with-gpu", "greedy", "later"):
        touched = [pods[name], *claims_of(pods[name], claims)]
        assert MANAGERS[OURS] not in writers(*touched)
    if ground.knows_writers:
        assert MANAGERS[OURS] in writers(*claims_of(pods["ours"], claims))


async def test_both_schedulers_work_side_by_side_on_devices_of_their_own(ground: Ground) -> None:
    ground.need_rival()
    devices = await ground.devices()
    (count,) = {len(names) for names in devices.values()}
    half = f"device.driver == 'gpu.example.com' && device.attributes['gpu.example.com'].index {{}} {count // 2}"
    classes = [device_class("first-half", half.format("<")), device_class("second-half", half.format(">="))]
    each = len(devices) * 2
    own = {OURS: "first-half", THEIRS: "second-half"}
    names = {scheduler: [f"{half}-{number}" for number in range(each)] for scheduler, half in own.items()}
    await ground.live.apply(classes)
    try:
        async with ground.watched(), ground.space("side-by-side") as space:
            await space.apply(*(template(one, count // 4, one) for one in own.values()))
            await asyncio.gather(
                *(
                    space.apply(pod(name, scheduler, templates=(own[scheduler],)))
                    for pair in zip(names[OURS], names[THEIRS], strict=True)
                    for scheduler, name in zip((OURS, THEIRS), pair, strict=True)
                )
            )
            pods = await space.until_running(*names[OURS], *names[THEIRS])
            claims, events = await space.claims(), await space.events()
    finally:
        for one in classes:
            await ground.live.delete("DeviceClass", one["metadata"]["name"])

    assert len(set(devices_of(claims.values()))) == each * 2 * (count // 4)
    assert invariants.unfounded_pods(pods.values(), claims.values()) == []
    assert reporters(events, "Scheduled") == {name: {one} for one in names for name in names[one]}
    if ground.knows_writers:
        chosen = {name: writers(*claims_of(one, claims), path=("status", "allocation")) for name, one in pods.items()}
        assert chosen == {name: {MANAGERS[scheduler]} for scheduler in names for name in names[scheduler]}
