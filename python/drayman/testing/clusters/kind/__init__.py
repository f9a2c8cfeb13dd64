"""The backend `kind`: nodes as containers of Docker, with kubelet, containerd and CDI; our parts from their charts."""

from drayman.testing.clusters.kind.cluster import BACKEND, Setup, remove, running

__all__ = ["BACKEND", "Setup", "remove", "running"]
