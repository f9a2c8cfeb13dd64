"""What a run is going to create in a cluster, in words, before it does."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from drayman.testing.clusters.existing.renaming import DRIVER
from drayman.testing.clusters.existing.run import LABEL, Run
from drayman.testing.clusters.existing.turns import NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from drayman.testing.clusters.existing.request import Request
    from drayman.testing.clusters.existing.survey import Survey
    from drayman.testing.scenario import Scenario

ID = Run("ID")
"""Stands for the run in names: its id is made when it starts."""

_POD_IMAGE_NOTE = "it has to be on the nodes, or where they pull images from"


def lines(server: str, request: Request, survey: Survey) -> Iterator[str]:
    """Yield the plan, line by line."""
    yield f"cluster: {server}, Kubernetes {survey.version}"
    yield f"checked: the API, {survey.asked} rights, {_nodes(request, survey)}"
    for run in survey.runs:
        yield f"another run is here: {run}; `drayman cluster down --run ID` removes one that is over"
    yield f"it would create, labelled `{LABEL}=ID` (ID: six characters, new for each run):"
    for line in (*_installed(request, survey), *_played(request)):
        yield f"- {line}"
    if request.scheduler:
        account = "its service account" if survey.accounts else "you: the server makes no tokens for service accounts"
        yield f"it would run here: `drayman scheduler`, as {account}, for pods with `schedulerName: {ID.scheduler}`"
    for image in (
        *([request.driver_image] if request.driver_image else ()),
        *([request.test_image] if request.scenarios else ()),
    ):
        yield f"image: {image} ({_POD_IMAGE_NOTE})"
    yield "afterwards all of it is removed; nothing has been written"


def _nodes(request: Request, survey: Survey) -> str:
    nodes = ", ".join(f"`{name}`" for name in survey.nodes)
    if request.driver_image:
        return f"nodes for the driver: {nodes}"
    more = " (there are more; pods are put on these)" if survey.narrowed else ""
    return f"nodes with devices of `{DRIVER}`: {nodes}{more}"


def _installed(request: Request, survey: Survey) -> Iterator[str]:
    yield f"Namespace `{ID.namespace}`"
    accounts = ["scheduler"] if request.scheduler and survey.accounts else []
    for part in [*accounts, *(["driver"] if request.driver_image else [])]:
        name = ID.named(f"drayman-{part}")
        yield f"ServiceAccount `{ID.namespace}/{name}`, with ClusterRole and ClusterRoleBinding `{name}`"
    if request.driver_image:
        name = ID.named("drayman-driver")
        yield f"DaemonSet `{ID.namespace}/{name}`: {len(survey.nodes)} pods that mount folders of the node"
        yield f"DeviceClass `{ID.driver}`, and a ResourceSlice for each node"
    if request.scenarios and not request.driver_image:
        yield f"Lease `{NAMESPACE}/drayman-{DRIVER}`, while a scenario has the driver's devices"


def _played(request: Request) -> Iterator[str]:
    scenarios = request.played()
    if scenarios:
        counts = _counts(scenarios)
        told = ", ".join(f"{counts[kind]} {kind}{'s' if counts[kind] > 1 else ''}" for kind in sorted(counts))
        yield f"for {len(scenarios)} scenarios, one after the other, each removed before the next: {told}"


def _counts(scenarios: Sequence[Scenario]) -> Counter[str]:
    """Return how many objects of each kind the scenarios create; pods of Jobs are counted as pods."""
    counts = Counter[str]()
    for played in scenarios:
        for obj in {(one["kind"], *_place(one)): one for step in played.steps for one in step}.values():
            counts[obj["kind"]] += 1
            if obj["kind"] == "Job":
                counts["Pod"] += int(obj["spec"].get("completions", 1))
    return counts


def _place(obj: dict[str, object]) -> tuple[str, str]:
    metadata = obj["metadata"]
    assert isinstance(metadata, dict)
    return str(metadata.get("namespace", "")), str(metadata.get("name", ""))
