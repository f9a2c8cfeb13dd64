"""What the API server fills in when a field is not given, before it validates.

Upstream's defaults for the kinds that scenarios use: `resource.k8s.io`, pods and what holds pod templates, and the
plain core kinds.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from drayman.api.defaults import core, pods, resource, workloads

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Mapping

_DEFAULTS: dict[tuple[str, str], Callable[[dict[str, Any]], None]] = {
    ("", "Namespace"): core.namespace,
    ("", "Node"): core.node,
    ("", "Secret"): core.secret,
    ("", "Service"): core.service,
    ("", "Pod"): pods.pod,
    ("", "PodTemplate"): pods.pod_template,
    ("", "PersistentVolumeClaim"): core.persistent_volume_claim,
    ("apps", "DaemonSet"): workloads.daemon_set,
    ("apps", "Deployment"): workloads.deployment,
    ("apps", "ReplicaSet"): workloads.replica_set,
    ("apps", "StatefulSet"): workloads.stateful_set,
    ("batch", "CronJob"): workloads.cron_job,
    ("batch", "Job"): workloads.job,
    ("resource.k8s.io", "ResourceClaim"): resource.claim,
    ("resource.k8s.io", "ResourceClaimTemplate"): resource.claim_template,
}


def apply(obj: Mapping[str, Any], now: dt.datetime | None = None) -> dict[str, Any]:
    """Return a new object with the API's defaults; `resource.k8s.io` objects must be in version `v1`.

    `now` is needed for what is stamped with the time (`timeAdded` of a taint); without it that field stays as it is.
    Parts of an unexpected type are left alone: they are refused by validation, not here.
    """
    defaulted: dict[str, Any] = copy.deepcopy(dict(obj))
    group = str(obj.get("apiVersion", "")).rpartition("/")[0]
    kind = str(obj.get("kind", ""))
    fill = _DEFAULTS.get((group, kind))
    if fill is not None:
        fill(defaulted)
    if group == "resource.k8s.io" and now is not None:
        resource.stamp_taints(defaulted, now)
    return defaulted
