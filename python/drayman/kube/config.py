"""Where an API server is and how to prove who we are: kubeconfig files and the service account of a pod.

Covers certificates, bearer tokens, token files and exec plugins (`client.authentication.k8s.io`). Other ways of older
kubeconfig files (`auth-provider`) are refused by name.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import ssl
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from drayman.errors import InputError

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One API server and one identity. `token_file`, when set, is read anew for each request: tokens of pods rotate."""

    url: str
    namespace: str = "default"
    token: str | None = field(default=None, repr=False)
    token_file: Path | None = None
    ca_data: bytes | None = field(default=None, repr=False)
    certificate: bytes | None = field(default=None, repr=False)
    key: bytes | None = field(default=None, repr=False)
    server_name: str | None = None
    insecure: bool = False

    def authorization(self) -> dict[str, str]:
        """Return the headers that carry the token, or none."""
        token = self.token_file.read_text().strip() if self.token_file else self.token
        return {"authorization": f"Bearer {token}"} if token else {}

    def ssl_context(self) -> ssl.SSLContext | None:
        """Return the TLS settings, or None for plain HTTP."""
        if not self.url.startswith("https:"):
            return None
        context = ssl.create_default_context(cadata=self.ca_data.decode() if self.ca_data else None)
        if self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if self.certificate and self.key:
            # The ssl module reads certificates from files only.
            with tempfile.NamedTemporaryFile(suffix=".pem") as pem:
                pem.write(self.certificate + b"\n" + self.key)
                pem.flush()
                context.load_cert_chain(pem.name)
        return context


def load(path: str | Path | None = None, *, context: str | None = None) -> ServerConfig:
    """Read `path`, else `$KUBECONFIG` (its first existing file), else the pod's service account, else `~/.kube/config`.

    Raises :class:`~drayman.errors.InputError` when there is none, or when it cannot be used.
    """
    if path is not None:
        return _from_file(Path(path), context)
    listed = [Path(part) for part in os.environ.get("KUBECONFIG", "").split(os.pathsep) if part]
    default = Path.home() / ".kube" / "config"
    for candidate in listed:
        if candidate.exists():
            return _from_file(candidate, context)
    if (_SERVICE_ACCOUNT / "token").exists() and not listed:
        return _in_cluster()
    if default.exists() and not listed:
        return _from_file(default, context)
    looked = ", ".join(f"`{candidate}`" for candidate in listed or [default])
    raise InputError(f"no kubeconfig found: looked for {looked}", hint="pass --kubeconfig, or set KUBECONFIG")


def write(path: Path, config: ServerConfig, *, name: str) -> None:
    """Write a kubeconfig for `config` that only its owner can read; `name` becomes cluster, user and context."""
    cluster = {"server": config.url}
    if config.ca_data:
        cluster["certificate-authority-data"] = base64.b64encode(config.ca_data).decode()
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": {"token": config.token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": config.namespace}}],
    }
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(document, sort_keys=False))


def _in_cluster() -> ServerConfig:
    host = os.environ.get("KUBERNETES_SERVICE_HOST", "kubernetes.default.svc")
    port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    return ServerConfig(
        url=f"https://{f'[{host}]' if ':' in host else host}:{port}",
        namespace=(_SERVICE_ACCOUNT / "namespace").read_text().strip(),
        token_file=_SERVICE_ACCOUNT / "token",
        ca_data=(_SERVICE_ACCOUNT / "ca.crt").read_bytes(),
    )


def _from_file(path: Path, context: str | None) -> ServerConfig:
    try:
        document = yaml.safe_load(path.read_text())
    except OSError as error:
        raise InputError(f"cannot read the kubeconfig: {error.strerror}", file=str(path)) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError("the kubeconfig is not YAML", file=str(path)) from error
    if not isinstance(document, Mapping):
        raise InputError("the kubeconfig is not a mapping", file=str(path))
    return _Kubeconfig(path, document).server(context)


class _Kubeconfig:
    """One parsed kubeconfig; relative paths in it are relative to the file."""

    def __init__(self, path: Path, document: Mapping[str, Any]) -> None:
        self._path = path
        self._document = document

    def server(self, context: str | None) -> ServerConfig:
        context = context or self._document.get("current-context")
        if not context:
            raise self._error("no context is given and `current-context` is not set")
        chosen = self._entry("contexts", "context", context)
        cluster = self._entry("clusters", "cluster", str(chosen.get("cluster")))
        user = self._entry("users", "user", str(chosen["user"])) if chosen.get("user") else {}
        if not cluster.get("server"):
            raise self._error(f"cluster `{chosen.get('cluster')}` has no `server`")
        credentials = self._exec(user["exec"]) if user.get("exec") else user
        if user.get("auth-provider"):
            raise self._error(f"user `{chosen['user']}`: `auth-provider` is not supported", hint="use an exec plugin")
        token_file = user.get("tokenFile")
        return ServerConfig(
            url=str(cluster["server"]).rstrip("/"),
            namespace=chosen.get("namespace") or "default",
            token=credentials.get("token"),
            token_file=self._path.parent / token_file if token_file else None,
            ca_data=self._data(cluster, "certificate-authority"),
            certificate=self._data(credentials, "client-certificate"),
            key=self._data(credentials, "client-key"),
            server_name=cluster.get("tls-server-name"),
            insecure=bool(cluster.get("insecure-skip-tls-verify")),
        )

    def _entry(self, section: str, field_name: str, name: str) -> Mapping[str, Any]:
        entries = self._document.get(section) or []
        if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
            raise self._error(f"`{section}` is not a list of mappings")
        for entry in entries:
            if entry.get("name") == name:
                found = entry.get(field_name) or {}
                if not isinstance(found, Mapping):
                    raise self._error(f"{field_name} `{name}` is not a mapping")
                return found
        raise self._error(f"{field_name} `{name}` is not defined")

    def _data(self, entry: Mapping[str, Any], name: str) -> bytes | None:
        if inline := entry.get(f"{name}-data"):
            try:
                return base64.b64decode(inline, validate=True)
            except binascii.Error as error:
                raise self._error(f"`{name}-data` is not base64") from error
        if file := entry.get(name):
            try:
                return (self._path.parent / str(file)).read_bytes()
            except OSError as error:
                raise self._error(f"cannot read `{name}` `{file}`: {error.strerror}") from error
        return None

    def _exec(self, plugin: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run a credential plugin and return its status with the names of a kubeconfig user."""
        command = [str(plugin.get("command", "")), *map(str, plugin.get("args") or [])]
        environment = {entry["name"]: entry["value"] for entry in plugin.get("env") or []}
        info = {"apiVersion": plugin.get("apiVersion"), "kind": "ExecCredential", "spec": {"interactive": False}}
        try:
            result = subprocess.run(  # noqa: S603 - running the named command is what a kubeconfig asks for
                command,
                env={**os.environ, **environment, "KUBERNETES_EXEC_INFO": json.dumps(info)},
                capture_output=True,
                check=True,
            )
            status = json.loads(result.stdout)["status"]
        except (OSError, subprocess.CalledProcessError, ValueError, KeyError) as error:
            raise self._error(f"credential plugin `{command[0]}` failed: {error}") from error
        encoded = {
            f"{name}-data": base64.b64encode(status[key].encode()).decode()
            for name, key in (("client-certificate", "clientCertificateData"), ("client-key", "clientKeyData"))
            if status.get(key)
        }
        return {"token": status.get("token"), **encoded}

    def _error(self, message: str, *, hint: str | None = None) -> InputError:
        return InputError(message, file=str(self._path), hint=hint)
