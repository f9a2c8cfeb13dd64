"""The columns of `kubectl get`, as upstream prints them; one module for each family of kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drayman.testing.apiserver.tables import access, core, pods, resource, storage, workloads
from drayman.testing.apiserver.tables.column import AGE, NAME, Column

if TYPE_CHECKING:
    from drayman.testing.apiserver.kinds import Kind

_DEFAULT = (NAME, AGE)
_BY_KIND: dict[str, tuple[Column, ...]] = {
    "ClusterRole": access.ROLES,
    "ClusterRoleBinding": access.ROLE_BINDINGS,
    "ConfigMap": core.CONFIG_MAPS,
    "CronJob": workloads.CRON_JOBS,
    "CSIDriver": storage.CSI_DRIVERS,
    "CSINode": storage.CSI_NODES,
    "CSIStorageCapacity": storage.CSI_CAPACITIES,
    "DaemonSet": workloads.DAEMON_SETS,
    "Deployment": workloads.DEPLOYMENTS,
    "DeviceTaintRule": resource.TAINT_RULES,
    "Event": core.EVENTS,
    "Job": workloads.JOBS,
    "Lease": core.LEASES,
    "Namespace": core.NAMESPACES,
    "Node": core.NODES,
    "PersistentVolume": storage.VOLUMES,
    "PersistentVolumeClaim": storage.VOLUME_CLAIMS,
    "Pod": pods.PODS,
    "PodDisruptionBudget": workloads.POD_DISRUPTION_BUDGETS,
    "PodGroup": resource.POD_GROUPS,
    "PriorityClass": resource.PRIORITY_CLASSES,
    "ReplicaSet": workloads.REPLICA_SETS,
    "ReplicationController": workloads.REPLICATION_CONTROLLERS,
    "ResourceClaim": resource.CLAIMS,
    "ResourceSlice": resource.SLICES,
    "Role": access.ROLES,
    "RoleBinding": access.ROLE_BINDINGS,
    "RuntimeClass": storage.RUNTIME_CLASSES,
    "Secret": core.SECRETS,
    "Service": core.SERVICES,
    "StatefulSet": workloads.STATEFUL_SETS,
    "StorageClass": storage.STORAGE_CLASSES,
}


def columns(kind: Kind) -> tuple[Column, ...]:
    """Return the columns of `kind`; name and age for kinds without columns of their own."""
    return _BY_KIND.get(kind.kind, _DEFAULT)
