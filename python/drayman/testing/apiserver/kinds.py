"""The kinds that the server stores: one row each.

A row says what discovery tells clients and what the write path has to know. Adding a kind is adding a row; columns
for `kubectl get` stand in :mod:`drayman.testing.apiserver.tables`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind in one group.

    `versions` are in order of preference; the first one is stored. `storage` names the collection: kinds with an
    equal one show the same objects. `unconditional` says whether an update without resourceVersion is accepted,
    `orphans` whether dependents survive a deletion that does not say what to do with them, `returned` whether a
    deletion answers with the object.
    """

    group: str
    versions: tuple[str, ...]
    kind: str
    plural: str
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    storage: str = ""
    generation: bool = False
    keeps_status: bool = False
    strict_status: bool = False
    unconditional: bool = True
    orphans: bool = False
    returned: bool = False

    @property
    def collection(self) -> str:
        """The name of the collection that holds the objects."""
        return self.storage or (f"{self.plural}.{self.group}" if self.group else self.plural)

    @property
    def singular(self) -> str:
        """The name for one object, as typed on a command line."""
        return self.kind.lower()

    @property
    def has_status(self) -> bool:
        """Whether status is written apart, by a subresource."""
        return "status" in self.subresources


_ALL = ("all",)
_SCALED = ("status", "scale")

KINDS: tuple[Kind, ...] = (
    Kind("", ("v1",), "ConfigMap", "configmaps", short_names=("cm",)),
    Kind("", ("v1",), "Endpoints", "endpoints", short_names=("ep",)),
    Kind("", ("v1",), "Event", "events", short_names=("ev",)),
    Kind("", ("v1",), "LimitRange", "limitranges", short_names=("limits",)),
    Kind("", ("v1",), "Namespace", "namespaces", False, ("ns",), subresources=("finalize", "status"), returned=True),
    Kind("", ("v1",), "Node", "nodes", False, ("no",), subresources=("status",), keeps_status=True),
    Kind("", ("v1",), "PersistentVolume", "persistentvolumes", False, ("pv",), subresources=("status",), returned=True),
    Kind(
        "",
        ("v1",),
        "PersistentVolumeClaim",
        "persistentvolumeclaims",
        True,
        ("pvc",),
        subresources=("status",),
        returned=True,
    ),
    Kind(
        "",
        ("v1",),
        "Pod",
        "pods",
        short_names=("po",),
        categories=_ALL,
        subresources=("binding", "ephemeralcontainers", "eviction", "log", "resize", "status"),
        generation=True,
        returned=True,
    ),
    Kind("", ("v1",), "PodTemplate", "podtemplates", generation=True, returned=True),
    Kind(
        "",
        ("v1",),
        "ReplicationController",
        "replicationcontrollers",
        short_names=("rc",),
        categories=_ALL,
        subresources=_SCALED,
        generation=True,
        orphans=True,
    ),
    Kind(
        "", ("v1",), "ResourceQuota", "resourcequotas", short_names=("quota",), subresources=("status",), returned=True
    ),
    Kind("", ("v1",), "Secret", "secrets"),
    Kind(
        "",
        ("v1",),
        "Service",
        "services",
        short_names=("svc",),
        categories=_ALL,
        subresources=("status",),
        returned=True,
    ),
    Kind("", ("v1",), "ServiceAccount", "serviceaccounts", short_names=("sa",), returned=True),
    Kind(
        "admissionregistration.k8s.io",
        ("v1",),
        "MutatingAdmissionPolicy",
        "mutatingadmissionpolicies",
        False,
        (),
        ("api-extensions",),
        unconditional=False,
    ),
    Kind(
        "admissionregistration.k8s.io",
        ("v1",),
        "MutatingAdmissionPolicyBinding",
        "mutatingadmissionpolicybindings",
        False,
        (),
        ("api-extensions",),
        unconditional=False,
    ),
    Kind(
        "admissionregistration.k8s.io",
        ("v1",),
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
        False,
        (),
        ("api-extensions",),
        generation=True,
        unconditional=False,
    ),
    Kind(
        "admissionregistration.k8s.io",
        ("v1",),
        "ValidatingAdmissionPolicy",
        "validatingadmissionpolicies",
        False,
        (),
        ("api-extensions",),
        ("status",),
        generation=True,
        unconditional=False,
    ),
    Kind(
        "admissionregistration.k8s.io",
        ("v1",),
        "ValidatingAdmissionPolicyBinding",
        "validatingadmissionpolicybindings",
        False,
        (),
        ("api-extensions",),
        generation=True,
        unconditional=False,
    ),
    Kind(
        "admissionregistration.k8s.io",
        ("v1",),
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        False,
        (),
        ("api-extensions",),
        generation=True,
        unconditional=False,
    ),
    Kind(
        "apiextensions.k8s.io",
        ("v1",),
        "CustomResourceDefinition",
        "customresourcedefinitions",
        False,
        ("crd", "crds"),
        ("api-extensions",),
        ("status",),
        generation=True,
        unconditional=False,
    ),
    Kind("apiregistration.k8s.io", ("v1",), "APIService", "apiservices", False, (), ("api-extensions",), ("status",)),
    Kind("apps", ("v1",), "ControllerRevision", "controllerrevisions"),
    Kind("apps", ("v1",), "DaemonSet", "daemonsets", True, ("ds",), _ALL, ("status",), generation=True),
    Kind("apps", ("v1",), "Deployment", "deployments", True, ("deploy",), _ALL, _SCALED, generation=True),
    Kind("apps", ("v1",), "ReplicaSet", "replicasets", True, ("rs",), _ALL, _SCALED, generation=True),
    Kind("apps", ("v1",), "StatefulSet", "statefulsets", True, ("sts",), _ALL, _SCALED, generation=True),
    Kind(
        "autoscaling", ("v2",), "HorizontalPodAutoscaler", "horizontalpodautoscalers", True, ("hpa",), _ALL, ("status",)
    ),
    Kind("batch", ("v1",), "CronJob", "cronjobs", True, ("cj",), _ALL, ("status",), generation=True),
    Kind("batch", ("v1",), "Job", "jobs", True, (), _ALL, ("status",), generation=True, orphans=True),
    Kind(
        "certificates.k8s.io",
        ("v1",),
        "CertificateSigningRequest",
        "certificatesigningrequests",
        False,
        ("csr",),
        (),
        ("approval", "status"),
    ),
    Kind(
        "certificates.k8s.io",
        ("v1", "v1beta1"),
        "ClusterTrustBundle",
        "clustertrustbundles",
        False,
        unconditional=False,
    ),
    Kind(
        "certificates.k8s.io",
        ("v1", "v1beta1"),
        "PodCertificateRequest",
        "podcertificaterequests",
        subresources=("status",),
        unconditional=False,
    ),
    Kind("coordination.k8s.io", ("v1",), "Lease", "leases", unconditional=False),
    Kind("coordination.k8s.io", ("v1beta1", "v1alpha2"), "LeaseCandidate", "leasecandidates", unconditional=False),
    Kind("discovery.k8s.io", ("v1",), "EndpointSlice", "endpointslices", generation=True),
    Kind("events.k8s.io", ("v1",), "Event", "events", short_names=("ev",), storage="events"),
    Kind(
        "flowcontrol.apiserver.k8s.io",
        ("v1",),
        "FlowSchema",
        "flowschemas",
        False,
        subresources=("status",),
        generation=True,
    ),
    Kind(
        "flowcontrol.apiserver.k8s.io",
        ("v1",),
        "PriorityLevelConfiguration",
        "prioritylevelconfigurations",
        False,
        subresources=("status",),
        generation=True,
    ),
    Kind(
        "networking.k8s.io", ("v1",), "Ingress", "ingresses", True, ("ing",), subresources=("status",), generation=True
    ),
    Kind("networking.k8s.io", ("v1",), "IngressClass", "ingressclasses", False, generation=True),
    Kind("networking.k8s.io", ("v1",), "NetworkPolicy", "networkpolicies", True, ("netpol",), generation=True),
    Kind("networking.k8s.io", ("v1",), "IPAddress", "ipaddresses", False, ("ip",)),
    Kind("networking.k8s.io", ("v1",), "ServiceCIDR", "servicecidrs", False, subresources=("status",)),
    Kind("node.k8s.io", ("v1",), "RuntimeClass", "runtimeclasses", False, unconditional=False),
    Kind(
        "policy",
        ("v1",),
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        True,
        ("pdb",),
        subresources=("status",),
        generation=True,
        unconditional=False,
    ),
    Kind("rbac.authorization.k8s.io", ("v1",), "ClusterRole", "clusterroles", False),
    Kind("rbac.authorization.k8s.io", ("v1",), "ClusterRoleBinding", "clusterrolebindings", False),
    Kind("rbac.authorization.k8s.io", ("v1",), "Role", "roles"),
    Kind("rbac.authorization.k8s.io", ("v1",), "RoleBinding", "rolebindings"),
    Kind(
        "resource.k8s.io",
        ("v1", "v1beta2", "v1beta1"),
        "DeviceClass",
        "deviceclasses",
        False,
        generation=True,
        returned=True,
    ),
    Kind(
        "resource.k8s.io",
        ("v1", "v1beta2", "v1alpha3"),
        "DeviceTaintRule",
        "devicetaintrules",
        False,
        subresources=("status",),
        generation=True,
        strict_status=True,
        unconditional=False,
        returned=True,
    ),
    Kind(
        "resource.k8s.io",
        ("v1", "v1beta2", "v1beta1"),
        "ResourceClaim",
        "resourceclaims",
        subresources=("status",),
        strict_status=True,
        returned=True,
    ),
    Kind(
        "resource.k8s.io",
        ("v1", "v1beta2", "v1beta1"),
        "ResourceClaimTemplate",
        "resourceclaimtemplates",
        returned=True,
    ),
    Kind(
        "resource.k8s.io",
        ("v1", "v1beta2", "v1beta1"),
        "ResourceSlice",
        "resourceslices",
        False,
        generation=True,
        returned=True,
    ),
    Kind(
        "resource.k8s.io",
        ("v1alpha3",),
        "ResourcePoolStatusRequest",
        "resourcepoolstatusrequests",
        False,
        subresources=("status",),
        strict_status=True,
        unconditional=False,
    ),
    Kind(
        "scheduling.k8s.io",
        ("v1alpha3",),
        "CompositePodGroup",
        "compositepodgroups",
        subresources=("status",),
        strict_status=True,
        unconditional=False,
    ),
    Kind("scheduling.k8s.io", ("v1",), "PriorityClass", "priorityclasses", False, ("pc",), generation=True),
    Kind(
        "scheduling.k8s.io",
        ("v1beta1",),
        "PodGroup",
        "podgroups",
        subresources=("status",),
        strict_status=True,
        unconditional=False,
    ),
    Kind("scheduling.k8s.io", ("v1beta1", "v1alpha3"), "Workload", "workloads", unconditional=False),
    Kind("storage.k8s.io", ("v1",), "CSIDriver", "csidrivers", False, returned=True, unconditional=False),
    Kind("storage.k8s.io", ("v1",), "CSINode", "csinodes", False, returned=True, unconditional=False),
    Kind("storage.k8s.io", ("v1",), "CSIStorageCapacity", "csistoragecapacities", unconditional=False),
    Kind("storage.k8s.io", ("v1",), "StorageClass", "storageclasses", False, ("sc",), returned=True),
    Kind(
        "storage.k8s.io",
        ("v1",),
        "VolumeAttachment",
        "volumeattachments",
        False,
        subresources=("status",),
        returned=True,
        unconditional=False,
    ),
    Kind("storage.k8s.io", ("v1",), "VolumeAttributesClass", "volumeattributesclasses", False, ("vac",), returned=True),
    Kind(
        "storagemigration.k8s.io",
        ("v1", "v1beta1"),
        "StorageVersionMigration",
        "storageversionmigrations",
        False,
        subresources=("status",),
        unconditional=False,
    ),
)

BY_COLLECTION: dict[str, Kind] = {kind.collection: kind for kind in reversed(KINDS)}
"""The kind that a collection stores, by the collection's name."""
