"""The backend `local`: Kubernetes' own control plane as processes, with one real kubelet (root) or with fake ones."""

from drayman.testing.clusters.local.cluster import running
from drayman.testing.clusters.local.rival import kube_scheduler

__all__ = ["kube_scheduler", "running"]
