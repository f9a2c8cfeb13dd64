"""Random life in a cluster: users, administrators, drivers and thieves at work, and parts that are restarted.

Everything that is drawn comes from one seed, and time is virtual: a seed that fails fails again.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Awaitable, Callable
from typing import Any

from tests.property.restartable import DRIVER, NODE_NAMES, Cluster, Parts, World

from drayman.driver.faults import Fault
from drayman.errors import APIStatusError
from drayman.kube.resources import CLAIM_TEMPLATES, CLAIMS, DEVICE_CLASSES, NODES, PODS, TAINT_RULES, Resource
from drayman.names import FINALIZER

Object = dict[str, Any]

API_VERSION = "resource.k8s.io/v1"
BIG = f"device.attributes['{DRIVER}'].size == 'big'"
CLASSES = {"gpu": f"device.driver == '{DRIVER}'", "big": BIG}


class Churn:
    """Does random things to the cluster; what the server refuses is part of life."""

    def __init__(self, cluster: Cluster, parts: Parts, world: World, seed: int) -> None:
        self._cluster = cluster
        self._client = cluster.client
        self._parts = parts
        self._world = world
        self._random = random.Random(seed)
        self._generations = dict.fromkeys(NODE_NAMES, 0)
        self._pods = 0
        self._operations = self._weighted()

    async def set_up(self) -> None:
        for name, expression in CLASSES.items():
            await self._create_class(name, expression)
        for name in NODE_NAMES:
            if not self._world.kubelets:
                await self._cluster.apply([node(name)])
            await self._publish(name, missing=0)

    async def burst(self) -> None:
        """Do some things at once or shortly after one another."""
        for _ in range(self._random.randint(1, 6)):
            with contextlib.suppress(APIStatusError):
                await self._random.choice(self._operations)()
            if self._random.random() < 0.5:
                await self._cluster.clock.settle(0)
        await self._cluster.clock.settle(self._random.choice((0, 0, 2, 30)))

    async def calm_down(self) -> None:
        """Let what is broken on purpose work again, and everything come to rest."""
        for driver in self._parts.drivers.values():
            driver.faults.clear()
        await self._cluster.clock.settle(100)

    def _weighted(self) -> list[Callable[[], Awaitable[None]]]:
        weights: dict[Callable[[], Awaitable[None]], int] = {
            self.create_pod_with_template: 6,
            self.create_pod_with_claims: 4,
            self.create_claim: 4,
            self.delete_pod: 6,
            self.delete_claim: 2,
            self.delete_template: 1,
            self.publish: 3,
            self.publish_in_part: 1,
            self.delete_slice: 1,
            self.create_rule: 2,
            self.delete_rule: 2,
            self.deallocate: 1,
            self.replace_class: 1,
            self.cordon: 1,
        }
        if self._world.kubelets:
            weights |= {self.break_driver: 3, self.mend_drivers: 3}
        else:
            weights |= {self.finish_pod: 5, self.replace_node: 1}
        if self._world.rivals:
            weights |= {self.steal: 3}
        if self._world.restarts:
            weights |= {self.restart: 3}
        return [operation for operation, weight in weights.items() for _ in range(weight)]

    async def create_pod_with_template(self) -> None:
        name = f"t{self._random.randrange(5)}"
        body = {"metadata": {"name": name, "namespace": "default"}, "spec": {"spec": self._claim_spec()}}
        with contextlib.suppress(APIStatusError):
            await self._client.create(CLAIM_TEMPLATES, body)
        await self._create_pod([{"name": "a", "resourceClaimTemplateName": name}])

    async def create_pod_with_claims(self) -> None:
        names = "ab"[: self._random.choice((1, 1, 2))]
        await self._create_pod([{"name": name, "resourceClaimName": f"c{self._random.randrange(6)}"} for name in names])

    async def create_claim(self) -> None:
        metadata = {"name": f"c{self._random.randrange(6)}", "namespace": "default"}
        await self._client.create(CLAIMS, {"metadata": metadata, "spec": self._claim_spec()})

    async def delete_pod(self) -> None:
        await self._delete_one(PODS)

    async def delete_claim(self) -> None:
        await self._delete_one(CLAIMS)

    async def delete_template(self) -> None:
        await self._delete_one(CLAIM_TEMPLATES)

    async def finish_pod(self) -> None:
        """End a pod as its kubelet would."""
        pod = await self._pick(PODS)
        if pod and pod["spec"].get("nodeName"):
            patch = {"status": {"phase": self._random.choice(("Succeeded", "Failed"))}}
            await self._client.patch(PODS, pod["metadata"]["name"], "default", patch, subresource="status")

    async def publish(self) -> None:
        await self._publish(self._random.choice(NODE_NAMES), missing=0)

    async def publish_in_part(self) -> None:
        await self._publish(self._random.choice(NODE_NAMES), missing=1)

    async def delete_slice(self) -> None:
        await self._cluster.delete("ResourceSlice", f"{self._random.choice(NODE_NAMES)}-0")

    async def create_rule(self) -> None:
        choice = self._random.choice
        selector = choice(({"pool": choice(NODE_NAMES)}, {"device": "d0"}, {}))
        taint = {"key": "k", "effect": choice(("NoSchedule", "NoExecute"))}
        spec = {"deviceSelector": {"driver": DRIVER, **selector}, "taint": taint}
        await self._client.create(TAINT_RULES, {"metadata": {"name": f"r{choice(range(4))}"}, "spec": spec})

    async def delete_rule(self) -> None:
        await self._delete_one(TAINT_RULES)

    async def deallocate(self) -> None:
        """Free a claim that nobody uses, as an administrator may."""
        claim = await self._pick(CLAIMS)
        if claim and not claim["status"].get("reservedFor"):
            await self._client.update(CLAIMS, {**claim, "status": {}}, subresource="status")

    async def steal(self) -> None:
        """Allocate a device that may be somebody else's, as a writer without manners would."""
        claim = await self._pick(CLAIMS)
        if not claim or claim["status"].get("allocation") or not claim["spec"]["devices"]["requests"][0].get("exactly"):
            return
        claim = await self._client.update(
            CLAIMS, {**claim, "metadata": {**claim["metadata"], "finalizers": [FINALIZER]}}
        )
        place = self._random.choice(NODE_NAMES)
        result = {"request": "r", "driver": DRIVER, "pool": place, "device": f"d{self._random.randrange(3)}"}
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [place]}]}
        allocation = {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [term]}}
        await self._client.update(CLAIMS, {**claim, "status": {"allocation": allocation}}, subresource="status")

    async def replace_class(self) -> None:
        await self._cluster.delete("DeviceClass", "big")
        await self._cluster.clock.settle(self._random.choice((0, 1, 20)))
        await self._create_class("big", BIG)

    async def cordon(self) -> None:
        patch = {"spec": {"unschedulable": self._random.choice((True, None))}}
        await self._client.patch(NODES, self._random.choice(NODE_NAMES), None, patch)

    async def replace_node(self) -> None:
        name = self._random.choice(NODE_NAMES)
        await self._client.delete(NODES, name)
        await self._cluster.clock.settle(self._random.choice((0, 1)))
        await self._cluster.apply([node(name)])

    async def break_driver(self) -> None:
        choice = self._random.choice
        fault = Fault(
            choice(("prepare", "unprepare")),
            delay=choice((0, 2, 50)),
            error=choice(("", "broken")),
            omit=choice((True, False, False)),
            times=choice((1, 3, None)),
        )
        self._parts.drivers[choice(NODE_NAMES)].faults.add(fault)

    async def mend_drivers(self) -> None:
        for driver in self._parts.drivers.values():
            driver.faults.clear()

    async def restart(self) -> None:
        await self._parts.restart(self._random.choice(self._parts.names()), self._random.choice((0, 0, 1, 40)))

    async def _pick(self, resource: Resource) -> Object | None:
        items, _ = await self._client.list(resource)
        return {"status": {}, **self._random.choice(items)} if items else None

    async def _delete_one(self, resource: Resource) -> None:
        obj = await self._pick(resource)
        if obj:
            await self._client.delete(resource, obj["metadata"]["name"], obj["metadata"].get("namespace"))

    async def _create_class(self, name: str, expression: str) -> None:
        spec = {"selectors": [{"cel": {"expression": expression}}]}
        await self._client.create(DEVICE_CLASSES, {"metadata": {"name": name}, "spec": spec})

    async def _create_pod(self, entries: list[Object]) -> None:
        choice = self._random.choice
        self._pods += 1
        spec: Object = {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": choice((0, 5)),
            "containers": [{"name": "c", "image": "i", "command": ["sleep", choice(("3", "20", "200", "3600"))]}],
            "resourceClaims": entries,
            "schedulerName": choice(("drayman", "other")),
        }
        if self._random.random() < 0.15:
            spec["nodeSelector"] = {"kubernetes.io/hostname": choice(NODE_NAMES)}
        await self._client.create(PODS, {"metadata": {"name": f"p{self._pods}", "namespace": "default"}, "spec": spec})

    async def _publish(self, name: str, *, missing: int) -> None:
        """Publish a new generation of a pool slice by slice, so that it is incomplete for a while or for good."""
        self._generations[name] += 1
        count = self._random.choice((1, 1, 2))
        pool = {"name": name, "generation": self._generations[name], "resourceSliceCount": count + missing}
        for index in self._random.sample(range(count), count):
            devices = [self._device(3 * index + number) for number in range(self._random.randint(1, 3))]
            spec = {"driver": DRIVER, "pool": pool, "nodeName": name, "devices": devices}
            metadata = {"name": f"{name}-{index}"}
            applied = {"apiVersion": API_VERSION, "kind": "ResourceSlice", "metadata": metadata, "spec": spec}
            await self._cluster.apply([applied])
            await self._cluster.clock.settle(0)

    def _device(self, number: int) -> Object:
        size = self._random.choice(("big", "small"))
        device: Object = {"name": f"d{number}", "attributes": {"size": {"string": size}, "index": {"int": number}}}
        if self._random.random() < 0.1:
            device["taints"] = [{"key": "bad", "effect": self._random.choice(("NoSchedule", "NoExecute"))}]
        return device

    def _claim_spec(self) -> Object:
        index = f"device.attributes['{DRIVER}'].index == {self._random.randrange(3)}"
        exactly: Object = self._random.choice(
            (
                {"deviceClassName": "gpu"},
                {"deviceClassName": "big"},
                {"deviceClassName": "gpu", "count": 2},
                {"deviceClassName": "big", "allocationMode": "All"},
                {"deviceClassName": "gpu", "selectors": [{"cel": {"expression": index}}]},
                {"deviceClassName": "gpu", "tolerations": [{"operator": "Exists"}]},
            )
        )
        request: Object = {"name": "r", "exactly": exactly}
        if self._random.random() < 0.15:
            first, second = {"deviceClassName": "big", "count": 2}, {"deviceClassName": "gpu"}
            request = {"name": "r", "firstAvailable": [{"name": "a", **first}, {"name": "b", **second}]}
        return {"devices": {"requests": [request]}}


def node(name: str) -> Object:
    status = {
        "allocatable": {"cpu": "16", "memory": "64Gi", "pods": "30"},
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}
