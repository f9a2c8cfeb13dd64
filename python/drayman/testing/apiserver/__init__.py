"""An embedded Kubernetes API server: transport-free handlers over an in-memory store."""

from drayman.testing.apiserver.server import APIServer
from drayman.testing.apiserver.transport import InProcessTransport

__all__ = ["APIServer", "InProcessTransport"]
