"""Names of drayman's own in the Kubernetes API. Everything under `drayman.internal/` is private to the project."""

from __future__ import annotations

PREFIX = "drayman.internal/"

FINALIZER = "resource.kubernetes.io/delete-protection"
"""Upstream's finalizer on allocated claims (`k8s.io/api/resource/v1`, `Finalizer`)."""

POD_CLAIM_NAME = "resource.kubernetes.io/pod-claim-name"
"""Upstream's annotation on generated claims: the entry in `pod.spec.resourceClaims` that the claim was made for."""

ADMIN_ACCESS = "resource.kubernetes.io/admin-access"
"""Upstream's label on namespaces whose claims may ask for admin access; its value is "true"."""

SCHEDULER_NAME = "drayman"
"""The default `schedulerName` that the scheduler serves."""

CONTAINERS = PREFIX + "containers"
"""Annotation that the fake kubelet writes on a pod.

JSON object from container name to `{env, devices, mounts, cdiDevices}`.
"""
