"""Explanations of objects that nobody checked: what is left out or of another type is refused, or explained."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.cli.manifests import claim, device_class, files, pod, slice_, template
from tests.unit.reasons.clusters import OWN, PENDING, SHARED, allocation, node

from drayman import Cluster, DraymanError, manifest

RULES = (
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
    "[{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}}, podAntiAffinity: "
    "{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {a: b}}}]}}"
)
WORKLOAD = """\
apiVersion: batch/v1
kind: Job
metadata: {name: w, namespace: team-a}
spec: {parallelism: 2, template: {spec: {containers: [{name: c, image: i}], restartPolicy: Never}}}
"""
OBJECTS = [
    one.object
    for one in manifest.parse(
        files(
            node("n1", zone="a", spec="taints: [{key: k, value: v, effect: NoSchedule}]"),
            node("n2", zone="b"),
            slice_("n2"),
            device_class(),
            template(),
            claim("shared")
            + f"status: {{{allocation('n2')}, reservedFor: [{{resource: pods, name: there, uid: u}}]}}\n",
            pod("there", SHARED, spec=f"nodeName: n2\n  {RULES}", status="phase: Running"),
            pod("first", OWN, SHARED, spec=f"nodeSelector: {{zone: b}}\n  {RULES}"),
            pod("gated", OWN, spec="schedulingGates: [{name: g}]", status=PENDING),
            WORKLOAD,
        )
    )
]
WRONG = st.sampled_from([None, 0, -1, "", "x", True, [], {}, [None], [{}], ["x"], {"a": "b"}])


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container in a value with each of its keys or indices."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from places(item)


@st.composite
def broken(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw the objects with one or two fields left out, or replaced by something else."""
    objects = copy.deepcopy(OBJECTS)
    for obj in objects if draw(st.booleans()) else ():
        obj["metadata"]["resourceVersion"] = "1"  # as if a server had them
    for _ in range(draw(st.integers(1, 2))):
        found = [(holder, key) for obj in objects for holder, key in places(obj) if key not in ("apiVersion", "kind")]
        holder, key = draw(st.sampled_from(found))
        if draw(st.booleans()):
            del holder[key]
        else:
            holder[key] = copy.deepcopy(draw(WRONG))
    return objects


@settings(max_examples=150)
@given(broken(), st.sampled_from(["1.37", "fixed"]))
def test_whatever_is_wrong_with_objects_is_refused_or_explained(
    objects: list[dict[str, Any]], compatibility: str
) -> None:
    with contextlib.suppress(DraymanError):
        cluster = Cluster.from_objects(objects, compatibility=compatibility)
        answers = [*cluster.explain_all(in_order=True), *(cluster.explain(name, "claim") for name in cluster.claims)]
        for answer in [*answers, cluster.explain("team-a/w", "job", in_order=True)]:
            assert len(answer.line().encode()) <= 300
            assert "\n" not in answer.line()
            assert answer.json()["verdict"] == answer.verdict
            assert answer.tree().startswith(answer.title.split()[0])
