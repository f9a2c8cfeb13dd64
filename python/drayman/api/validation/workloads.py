"""Rules about kinds that make pods. Source: `pkg/apis/batch/validation` and `pkg/apis/apps/validation`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drayman.api.field import Path, forbidden, invalid, not_supported, required
from drayman.api.validation.context import Context
from drayman.api.validation.metadata import label_selector, metadata, metadata_update
from drayman.api.validation.pod_spec import pod_template
from drayman.api.validation.rules import Errors, not_negative, unchanged

SPEC = Path("spec")
_JOB_NUMBERS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_COMPLETION_MODES = ("NonIndexed", "Indexed")
_JOB_FIXED = (
    "selector",
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
)


def job(obj: Mapping[str, Any], context: Context) -> Errors:
    """A new Job. Its selector is generated unless `manualSelector` says otherwise."""
    yield from metadata(obj.get("metadata") or {}, namespaced=True)
    yield from job_spec(SPEC, obj.get("spec") or {})


def job_update(new: Mapping[str, Any], old: Mapping[str, Any], context: Context) -> Errors:
    """A Job may be suspended, and its parallelism may change."""
    spec, old_spec = new.get("spec") or {}, old.get("spec") or {}
    yield from metadata_update(new.get("metadata") or {}, old.get("metadata") or {})
    yield from job_spec(SPEC, spec)
    if spec.get("completionMode") != "Indexed":
        yield from unchanged(SPEC.child("completions"), spec.get("completions"), old_spec.get("completions"))
    if not old_spec.get("suspend"):
        yield from unchanged(SPEC.child("template"), spec.get("template"), old_spec.get("template"))
    for name in _JOB_FIXED:
        yield from unchanged(SPEC.child(name), spec.get(name), old_spec.get(name))


def job_spec(path: Path, spec: Mapping[str, Any]) -> Errors:
    """The spec of a Job, also in a CronJob."""
    for name in _JOB_NUMBERS:
        yield from not_negative(path.child(name), spec.get(name))
    yield from _completion_mode(path, spec)
    yield from pod_template(path.child("template"), spec.get("template") or {})
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy")
    policy_path = path.child("template", "spec", "restartPolicy")
    if policy in {None, "", "Always"}:
        yield required(policy_path, 'valid values: "OnFailure", "Never"')
    elif policy not in {"OnFailure", "Never"}:
        yield not_supported(policy_path, policy, ("OnFailure", "Never"))
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        yield invalid(policy_path, policy, 'only "Never" is supported when podFailurePolicy is specified')
    if spec.get("selector") is not None:
        yield from label_selector(path.child("selector"), spec["selector"])
    elif spec.get("manualSelector"):
        yield required(path.child("selector"))


def _completion_mode(path: Path, spec: Mapping[str, Any]) -> Errors:
    mode = spec.get("completionMode")
    if mode is not None and mode not in _COMPLETION_MODES:
        yield not_supported(path.child("completionMode"), mode, _COMPLETION_MODES)
    if mode == "Indexed":
        if spec.get("completions") is None:
            yield required(path.child("completions"), "when completion mode is Indexed")
    else:
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(name) is not None:
                yield invalid(path.child(name), spec[name], "requires indexed completion mode")


def deployment(obj: Mapping[str, Any], context: Context) -> Errors:
    """A new Deployment, ReplicaSet or StatefulSet: pods that are replaced for ever."""
    yield from metadata(obj.get("metadata") or {}, namespaced=True)
    yield from _replicated(obj.get("spec") or {})


def deployment_update(new: Mapping[str, Any], old: Mapping[str, Any], context: Context) -> Errors:
    """All but the selector may change."""
    spec, old_spec = new.get("spec") or {}, old.get("spec") or {}
    yield from metadata_update(new.get("metadata") or {}, old.get("metadata") or {})
    yield from _replicated(spec)
    yield from unchanged(SPEC.child("selector"), spec.get("selector"), old_spec.get("selector"))


def _replicated(spec: Mapping[str, Any]) -> Errors:
    template, path = spec.get("template") or {}, SPEC.child("template")
    yield from not_negative(SPEC.child("replicas"), spec.get("replicas"))
    yield from _selector(SPEC.child("selector"), spec)
    yield from pod_template(path, template)
    pod = template.get("spec") or {}
    if pod.get("restartPolicy") != "Always":
        yield not_supported(path.child("spec", "restartPolicy"), pod.get("restartPolicy", ""), ("Always",))
    if pod.get("activeDeadlineSeconds") is not None:
        text = "activeDeadlineSeconds in ReplicaSet is not Supported"
        yield forbidden(path.child("spec", "activeDeadlineSeconds"), text)
    for name in ("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"):
        yield from not_negative(SPEC.child(name), spec.get(name))


def _selector(path: Path, spec: Mapping[str, Any]) -> Errors:
    """The selector is given and selects the pods of the template."""
    selector = spec.get("selector")
    if selector is None:
        yield required(path)
        return
    yield from label_selector(path, selector)
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield invalid(path, dict(selector), "empty selector is invalid for deployment")
        return
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    if not _selects(selector, labels):
        text = "`selector` does not match template `labels`"
        yield invalid(SPEC.child("template", "metadata", "labels"), labels or None, text)


def _selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    wanted = selector.get("matchLabels") or {}
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _satisfies(requirement, labels) for requirement in selector.get("matchExpressions") or ()
    )


def _satisfies(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = requirement.get("key", ""), requirement.get("values") or ()
    match requirement.get("operator"):
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return key not in labels or labels[key] not in values
        case "Exists":
            return key in labels
        case _:
            return key not in labels
