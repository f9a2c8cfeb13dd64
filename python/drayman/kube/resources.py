"""The resources that drayman reads or writes, by group, version, kind and plural."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Resource:
    """One API resource in one version. `group` is empty for core."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """The `apiVersion` of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, name: str | None = None, namespace: str | None = None, subresource: str | None = None) -> str:
        """Return the URL path of a collection (no `name`.

        No `namespace`: of all namespaces), an object, or a subresource.
        """
        parts = ["apis", self.group, self.version] if self.group else ["api", self.version]
        if self.namespaced and namespace is not None:
            parts += ["namespaces", namespace]
        parts += [part for part in (self.plural, name, subresource) if part]
        return "/" + "/".join(parts)


PODS = Resource("", "v1", "Pod", "pods")
NODES = Resource("", "v1", "Node", "nodes", namespaced=False)
NAMESPACES = Resource("", "v1", "Namespace", "namespaces", namespaced=False)
JOBS = Resource("batch", "v1", "Job", "jobs")
DEPLOYMENTS = Resource("apps", "v1", "Deployment", "deployments")
REPLICASETS = Resource("apps", "v1", "ReplicaSet", "replicasets")
EVENTS = Resource("events.k8s.io", "v1", "Event", "events")
LEASES = Resource("coordination.k8s.io", "v1", "Lease", "leases")
CLAIMS = Resource("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims")
CLAIM_TEMPLATES = Resource("resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates")
DEVICE_CLASSES = Resource("resource.k8s.io", "v1", "DeviceClass", "deviceclasses", namespaced=False)
SLICES = Resource("resource.k8s.io", "v1", "ResourceSlice", "resourceslices", namespaced=False)
TAINT_RULES = Resource("resource.k8s.io", "v1", "DeviceTaintRule", "devicetaintrules", namespaced=False)
