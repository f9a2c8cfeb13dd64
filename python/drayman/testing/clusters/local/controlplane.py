"""etcd, kube-apiserver and kube-controller-manager: their command lines, and when they are ready."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drayman.errors import InputError
from drayman.kube import config, connect
from drayman.kube.config import ServerConfig
from drayman.kube.http import Request
from drayman.testing.clusters.local.credentials import Authority, Tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from drayman.clock import Clock
    from drayman.testing.clusters.local.processes import Processes

HOST = "127.0.0.1"
ADMINISTRATOR = "drayman:administrator"
CONTROLLER_MANAGER, SCHEDULER = "system:kube-controller-manager", "system:kube-scheduler"

_CONTROLLERS = (
    "deployment-controller",
    "device-taint-eviction-controller",
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "resourceclaim-controller",
    "root-ca-certificate-publisher-controller",
    "serviceaccount-controller",
    "ttl-after-finished-controller",
)
"""Those that pods with claims meet; the others cost time at the start."""

REAL_NODES = {
    "admission": ("--enable-admission-plugins=NodeRestriction",),
    "controllers": ("node-lifecycle-controller",),
}
"""What a layout has for real kubelets: new nodes are tainted, until a controller sees that they are ready."""

FAKE_NODES = {
    "admission": ("--enable-admission-plugins=NodeRestriction", "--disable-admission-plugins=TaintNodesByCondition")
}
"""What it has for fake kubelets, which are ready at once, and do not say every few seconds that they still are."""

_FIRST = ("/readyz", "/api/v1/namespaces/default", "/api/v1/namespaces/kube-system")
_START_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a control plane has its things, and what it is told.

    `admission` are the API server's flags for that; `controllers` run besides those that every cluster has.
    """

    folder: Path
    binaries: Mapping[str, Path]
    feature_gates: Mapping[str, bool]
    port: int
    admission: Sequence[str] = ()
    controllers: Sequence[str] = ()

    @property
    def url(self) -> str:
        """Where the API server is."""
        return f"https://{HOST}:{self.port}"

    @property
    def gates(self) -> list[str]:
        """The flag for feature gates, if any are to be changed."""
        return gate_flags(self.feature_gates)


class ControlPlane:
    """Starts the three, and hands out the ways to reach the API server as one of its users.

    Users are made known before the API server starts: it reads its tokens once.
    """

    def __init__(self, layout: Layout, clock: Clock, users: Mapping[str, Sequence[str]]) -> None:
        self.layout = layout
        self.authority = Authority(layout.folder / "pki", clock.now())
        self._etcd_port = free_port()
        self._etcd_client = self.authority.issue("etcd-client", "kube-apiserver")
        self._tokens = Tokens()
        for user, groups in users.items():
            self._tokens.add(user, *groups)
        self._tokens.add(CONTROLLER_MANAGER)
        self._tokens.add(SCHEDULER)
        self._tokens.add(ADMINISTRATOR, "system:masters")

    @property
    def administrator(self) -> ServerConfig:
        """How the cluster's administrator reaches the API server."""
        return self.as_user(ADMINISTRATOR)

    def as_user(self, user: str) -> ServerConfig:
        """Return how `user` reaches the API server."""
        return ServerConfig(self.layout.url, token=self._tokens.add(user), ca_data=self.authority.certificate)

    def kubeconfig(self, user: str, server: ServerConfig | None = None) -> Path:
        """Write the kubeconfig of `user`, or of whom `server` says, and return where it is."""
        path = self.layout.folder / f"{user.replace(':', '-')}.kubeconfig"
        config.write(path, server or self.as_user(user), name="drayman-local")
        return path

    async def start(self, processes: Processes, *, prefix: Sequence[str] = ()) -> None:
        """Start etcd and the API server, and return when it answers.

        `prefix` starts the API server where kubelets are found by the names of their nodes.
        """
        await self.start_etcd(processes)
        await self.start_api_server(processes, prefix=prefix)

    async def start_etcd(self, processes: Processes) -> None:
        """Start etcd; the API server waits for it."""
        await processes.start("etcd", self._etcd())

    async def start_api_server(self, processes: Processes, *, prefix: Sequence[str] = ()) -> None:
        """Start the API server, and return when it answers."""
        await processes.start("kube-apiserver", self._api_server(by_name=bool(prefix)), prefix=prefix)
        async with connect.connection(self.administrator, user_agent="drayman") as client:

            async def ready() -> bool:
                try:
                    # The namespaces come a moment later than readiness, and everything lives in one.
                    answers = [await client.transport.request(Request("GET", path)) for path in _FIRST]
                except ConnectionError:
                    return False
                return all(answer.status == 200 for answer in answers)

            await processes.until("the API server did not become ready", ready, _START_SECONDS)

    @property
    def etcd(self) -> ServerConfig:
        """How the API server reaches etcd."""
        certificate, key = (path.read_bytes() for path in self._etcd_client)
        authority = self.authority.certificate
        return ServerConfig(f"https://{HOST}:{self._etcd_port}", ca_data=authority, certificate=certificate, key=key)

    async def start_controllers(self, processes: Processes) -> None:
        """Start the controller manager; each controller acts as a service account of its own."""
        _, private = self._account_keys
        command: list[str | Path] = [
            self.layout.binaries["kube-controller-manager"],
            f"--kubeconfig={self.kubeconfig(CONTROLLER_MANAGER)}",
            f"--controllers={','.join((*_CONTROLLERS, *self.layout.controllers))}",
            "--use-service-account-credentials=true",
            f"--service-account-private-key-file={private}",
            f"--root-ca-file={self.authority.path}",
            "--leader-elect=false",
            "--secure-port=0",
            "--kube-api-qps=500",
            "--kube-api-burst=500",
            *self.layout.gates,
        ]
        await processes.start("kube-controller-manager", command)

    def _etcd(self) -> list[str | Path]:
        port = self._etcd_port
        certificate, key = self.authority.issue("etcd", "etcd", hosts=[HOST])
        peers = f"http://{HOST}:{free_port()}"
        return [
            self.layout.binaries["etcd"],
            f"--data-dir={self.layout.folder / 'etcd'}",
            f"--listen-client-urls=https://{HOST}:{port}",
            f"--advertise-client-urls=https://{HOST}:{port}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            f"--cert-file={certificate}",
            f"--key-file={key}",
            f"--trusted-ca-file={self.authority.path}",
            "--client-cert-auth=true",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ]

    def _api_server(self, *, by_name: bool) -> list[str | Path]:
        folder = self.layout.folder
        certificate, key = self.authority.issue("kube-apiserver", "kube-apiserver", hosts=[HOST, "localhost"])
        client, client_key = self._etcd_client
        # The kubelet asks the API server what its caller may: this is the group that may everything.
        kubelet, kubelet_key = self.authority.issue(
            "kubelet-client", "drayman:kube-apiserver", organizations=["system:masters"]
        )
        self._account_keys = public, private = self.authority.signing_key("service-account")
        tokens = folder / "pki" / "tokens.csv"
        self._tokens.write(tokens)
        return [
            self.layout.binaries["kube-apiserver"],
            f"--bind-address={HOST}",
            f"--secure-port={self.layout.port}",
            f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={key}",
            f"--cert-dir={folder / 'pki'}",
            f"--token-auth-file={tokens}",
            f"--client-ca-file={self.authority.path}",
            "--authorization-mode=Node,RBAC",
            *self.layout.admission,
            f"--etcd-servers=https://{HOST}:{self._etcd_port}",
            f"--etcd-cafile={self.authority.path}",
            f"--etcd-certfile={client}",
            f"--etcd-keyfile={client_key}",
            f"--service-account-issuer=https://{HOST}",
            f"--service-account-key-file={public}",
            f"--service-account-signing-key-file={private}",
            "--service-cluster-ip-range=10.96.0.0/24",
            f"--kubelet-client-certificate={kubelet}",
            f"--kubelet-client-key={kubelet_key}",
            f"--kubelet-preferred-address-types={'Hostname' if by_name else 'InternalIP'}",
            "--endpoint-reconciler-type=none",
            *self.layout.gates,
        ]


def gate_flags(feature_gates: Mapping[str, bool]) -> list[str]:
    """Return the flag of Kubernetes' programs, and of ours, for feature gates; none for none."""
    switches = ",".join(f"{name}={str(on).lower()}" for name, on in sorted(feature_gates.items()))
    return [f"--feature-gates={switches}"] if switches else []


def check_port(port: int) -> None:
    """Raise :class:`~drayman.errors.InputError` when nobody can listen on `port`."""
    with socket.socket() as probe:
        # As servers do: connections of an earlier one that are still closing are no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            reason = os.strerror(error.errno or 0).lower()
            raise InputError(f"port {port} cannot be used: {reason}") from error


def free_port() -> int:
    """Return a port of the loopback address on which nobody listens at the moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
