"""The labels by which a Job finds its pods: the server adds them to its selector and pod template."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

_CONTROLLER_UID = "batch.kubernetes.io/controller-uid"
_UID_LABELS = ("controller-uid", _CONTROLLER_UID)
_NAME_LABELS = ("job-name", "batch.kubernetes.io/job-name")


def generated(job: Object) -> Object:
    """Return a new Job with its selector, unless its author says `manualSelector`. Labels that are set stay."""
    spec = job.get("spec") or {}
    if spec.get("manualSelector"):
        return job
    metadata, template = job["metadata"], spec.get("template") or {}
    labels = dict.fromkeys(_NAME_LABELS, metadata.get("name", "")) | dict.fromkeys(_UID_LABELS, metadata["uid"])
    template_metadata = template.get("metadata") or {}
    template_metadata = {**template_metadata, "labels": labels | (template_metadata.get("labels") or {})}
    selector = spec.get("selector") or {}
    match_labels = {_CONTROLLER_UID: metadata["uid"]} | (selector.get("matchLabels") or {})
    return {
        **job,
        "metadata": {**metadata, "labels": labels | (metadata.get("labels") or {})},
        "spec": {
            **spec,
            "selector": {**selector, "matchLabels": match_labels},
            "template": {**template, "metadata": template_metadata},
        },
    }
