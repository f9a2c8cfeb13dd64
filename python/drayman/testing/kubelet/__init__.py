"""A kubelet without containers: it prepares devices by real DRA drivers and tells what a container would have got."""

from drayman.testing.kubelet.kubelet import Kubelet

__all__ = ["Kubelet"]
