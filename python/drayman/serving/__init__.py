"""Health of a long-running part over HTTP, for the probes of a kubelet: `/livez`, `/readyz`, `/healthz`."""

from drayman.serving.address import Address
from drayman.serving.checks import Check, Probes

__all__ = ["Address", "Check", "Probes"]
