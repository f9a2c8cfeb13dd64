"""Defaults of pods and of the pod specs in templates.

What admission plug-ins add on a real cluster (service account tokens, not-ready tolerations, priority) is not a default
and not here.
"""

from __future__ import annotations

from typing import Any

from drayman.api.defaults.access import fill, fill_empty, mapping, mappings, nested

_CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


def pod(obj: dict[str, Any]) -> None:
    """Fill a Pod: what every pod spec gets, and what only pods get."""
    spec = nested(obj, "spec")
    pod_spec(spec)
    if isinstance(spec.get("terminationGracePeriodSeconds"), int) and spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    fill(spec, enableServiceLinks=True)
    _status(mapping(obj, "status"))
    for name in ("initContainers", "containers"):
        for container in mappings(spec, name):
            _requests_from_limits(container)
            if spec.get("hostNetwork") is True:
                for port in mappings(container, "ports"):
                    fill_empty(port, hostPort=port.get("containerPort"))


def _status(status: dict[str, Any]) -> None:
    """Write times that are not known as null, and states that are not known as empty, as Go's types do."""
    for condition in mappings(status, "conditions"):
        condition.setdefault("lastProbeTime", None)
        condition.setdefault("lastTransitionTime", None)
    for name in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        for container in mappings(status, name):
            for state in ("state", "lastState"):
                container.setdefault(state, {})
                if isinstance(mapping(container, state).get("running"), dict):
                    container[state]["running"].setdefault("startedAt", None)


def pod_template(obj: dict[str, Any]) -> None:
    """Fill the pod spec of an object that has one at `template.spec`."""
    template = nested(obj, "template")
    pod_spec(nested(template, "spec"))


def pod_spec(spec: dict[str, Any]) -> None:
    """Fill a pod spec."""
    if not spec.get("serviceAccountName") and spec.get("serviceAccount"):
        spec["serviceAccountName"] = spec["serviceAccount"]
    if spec.get("serviceAccountName"):
        spec["serviceAccount"] = spec["serviceAccountName"]
    fill_empty(spec, dnsPolicy="ClusterFirst", restartPolicy="Always", schedulerName="default-scheduler")
    fill(spec, securityContext={}, terminationGracePeriodSeconds=30)
    for name in _CONTAINER_LISTS:
        for container in mappings(spec, name):
            _container(container)
    for volume in mappings(spec, "volumes"):
        _volume(volume)


def _container(container: dict[str, Any]) -> None:
    policy = "Always" if _tag(container.get("image")) == "latest" else "IfNotPresent"
    fill_empty(
        container,
        imagePullPolicy=policy,
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
    )
    fill(container, resources={})
    for port in mappings(container, "ports"):
        fill_empty(port, protocol="TCP")
    for variable in mappings(container, "env"):
        if isinstance(mapping(variable, "valueFrom").get("fieldRef"), dict):
            fill_empty(variable["valueFrom"]["fieldRef"], apiVersion="v1")
    for name in _PROBES:
        if isinstance(container.get(name), dict):
            _probe(container[name])
    for handler in mapping(container, "lifecycle").values():
        _http_get(mapping(handler, "httpGet"))


def _tag(image: Any) -> str:
    """Return the tag of an image reference; `latest` when it has neither tag nor digest."""
    name, _, digest = str(image or "").partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return tag or ("" if digest else "latest")


def _probe(probe: dict[str, Any]) -> None:
    fill_empty(probe, timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
    _http_get(mapping(probe, "httpGet"))


def _http_get(action: dict[str, Any]) -> None:
    if action:
        fill_empty(action, path="/", scheme="HTTP")


def _volume(volume: dict[str, Any]) -> None:
    if not any(value is not None for name, value in volume.items() if name != "name"):
        volume["emptyDir"] = {}
    for name in ("secret", "configMap", "downwardAPI", "projected"):
        if isinstance(volume.get(name), dict):
            fill(volume[name], defaultMode=0o644)
    if isinstance(volume.get("hostPath"), dict):
        fill(volume["hostPath"], type="")
    for source in mappings(volume, "projected", "sources"):
        if isinstance(source.get("serviceAccountToken"), dict):
            fill(source["serviceAccountToken"], expirationSeconds=3600)


def _requests_from_limits(container: dict[str, Any]) -> None:
    limits = mapping(container, "resources", "limits")
    if limits:
        fill(nested(container["resources"], "requests"), **limits)
