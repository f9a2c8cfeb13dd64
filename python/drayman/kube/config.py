"""Where an API server is and how to prove who we are: kubeconfig files and the service account of a pod.

Covers certificates, bearer tokens, token files, passwords and exec plugins (`client.authentication.k8s.io`). The
`auth-provider` of older kubeconfig files is left to the `kubernetes` package; impersonation is refused by name.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import ssl
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from drayman.errors import InputError, MissingExtraError

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
    password: tuple[str, str] | None = field(default=None, repr=False)
    proxy: str | None = None

    def authorization(self) -> dict[str, str]:
        """Return the headers that carry the token, or the user name and its password, or none.

        Raises `ConnectionError` when the token's file cannot be read: it is being replaced, and is there soon.
        """
        try:
            token = self.token_file.read_text().strip() if self.token_file else self.token
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ConnectionError(f"cannot read the token `{self.token_file}`: {reason}") from error
        if token:
            return {"authorization": f"Bearer {token}"}
        if self.password:
            encoded = base64.b64encode(":".join(self.password).encode()).decode()
            return {"authorization": f"Basic {encoded}"}
        return {}

    def ssl_context(self) -> ssl.SSLContext | None:
        """Return the TLS settings, or None for plain HTTP.

        Raises :class:`~drayman.errors.InputError` for a certificate or key that is none.
        """
        if not self.url.startswith("https:"):
            return None
        try:
            return self._ssl_context()
        except (ssl.SSLError, UnicodeDecodeError) as error:
            raise InputError(f"a certificate or key of the kubeconfig cannot be used: {error}") from error

    def _ssl_context(self) -> ssl.SSLContext:
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


def load(path: str | os.PathLike[str] | None = None, *, context: str | None = None) -> ServerConfig:
    """Read `path`, else the files of `$KUBECONFIG` laid over each other (what the first one has counts), else the pod's
    service account, else `~/.kube/config`.

    Raises :class:`~drayman.errors.InputError` when there is none, or when it cannot be used.
    """
    files = _files(path)
    return _Kubeconfig(files).server(context) if files else _in_cluster()


def contexts(path: str | os.PathLike[str] | None = None) -> list[str]:
    """Return the names of the contexts of the files that :func:`load` reads. Raises as that does."""
    entries = [entry for _, document in _files(path) for entry in document.get("contexts") or []]
    return sorted({str(entry["name"]) for entry in entries if isinstance(entry, Mapping) and entry.get("name")})


def write(path: Path, config: ServerConfig, *, name: str) -> None:
    """Write a kubeconfig for `config` that only its owner can read; `name` becomes cluster, user and context."""
    cluster: dict[str, Any] = {
        "server": config.url,
        "certificate-authority-data": _encoded(config.ca_data),
        "tls-server-name": config.server_name,
        "insecure-skip-tls-verify": config.insecure,
        "proxy-url": config.proxy,
    }
    user_name, password = config.password or (None, None)
    user: dict[str, Any] = {
        "token": config.token,
        "tokenFile": str(config.token_file) if config.token_file else None,
        "client-certificate-data": _encoded(config.certificate),
        "client-key-data": _encoded(config.key),
        "username": user_name,
        "password": password,
    }
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": {key: value for key, value in cluster.items() if value}}],
        "users": [{"name": name, "user": {key: value for key, value in user.items() if value}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": config.namespace}}],
    }
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(document, sort_keys=False))


def _encoded(data: bytes | None) -> str:
    return base64.b64encode(data or b"").decode()


def _in_cluster() -> ServerConfig:
    host = os.environ.get("KUBERNETES_SERVICE_HOST", "kubernetes.default.svc")
    port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    return ServerConfig(
        url=f"https://{f'[{host}]' if ':' in host else host}:{port}",
        namespace=(_SERVICE_ACCOUNT / "namespace").read_text().strip(),
        token_file=_SERVICE_ACCOUNT / "token",
        ca_data=(_SERVICE_ACCOUNT / "ca.crt").read_bytes(),
    )


def _files(path: str | os.PathLike[str] | None) -> list[tuple[Path, Mapping[str, Any]]]:
    """Return the kubeconfig files that count, the first one first; none where only the pod's service account is."""
    listed = [Path(part) for part in os.environ.get("KUBECONFIG", "").split(os.pathsep) if part]
    default = _home() / ".kube" / "config"
    if path is not None:
        found = [Path(path)]
    elif listed:
        found = [candidate for candidate in listed if candidate.exists()]
    elif (_SERVICE_ACCOUNT / "token").exists():
        return []
    else:
        found = [default] if default.exists() else []
    if not found:
        looked = ", ".join(f"`{candidate}`" for candidate in listed or [default])
        raise InputError(f"no kubeconfig found: looked for {looked}", hint="pass --kubeconfig, or set KUBECONFIG")
    return [(file, _read(file)) for file in found]


def _home() -> Path:
    """Return the home of the user; `/` for one that the system does not know, as containers run them."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def _read(path: Path) -> Mapping[str, Any]:
    try:
        document = yaml.safe_load(path.read_text())
    except OSError as error:
        raise InputError(f"cannot read the kubeconfig: {error.strerror}", file=str(path)) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError("the kubeconfig is not YAML", file=str(path)) from error
    if not isinstance(document, Mapping):
        raise InputError("the kubeconfig is not a mapping", file=str(path))
    return document


@dataclass(frozen=True, slots=True)
class _Entry:
    """A named part of a kubeconfig and the file that it is from; relative paths in it are relative to that file."""

    path: Path
    title: str
    content: Mapping[str, Any]

    def data(self, name: str) -> bytes | None:
        """Return what `NAME-data` holds, or the file that `NAME` names."""
        if inline := self.content.get(f"{name}-data"):
            try:
                return base64.b64decode(inline, validate=True)
            except (binascii.Error, TypeError, ValueError) as error:
                raise self.error(f"`{name}-data` is not base64") from error
        if file := self.content.get(name):
            try:
                return (self.path.parent / str(file)).read_bytes()
            except OSError as error:
                raise self.error(f"cannot read `{name}` `{file}`: {error.strerror}") from error
        return None

    def error(self, message: str, *, hint: str | None = None) -> InputError:
        return InputError(message, file=str(self.path), hint=hint)


class _Kubeconfig:
    """Parsed kubeconfig files, the ones that count first."""

    def __init__(self, files: Sequence[tuple[Path, Mapping[str, Any]]]) -> None:
        self._files = files

    def server(self, context: str | None) -> ServerConfig:
        current = (str(document.get("current-context") or "") for _, document in self._files)
        context = context or next(filter(None, current), "")
        if not context:
            raise self._error("no context is given and `current-context` is not set")
        chosen = self._entry("contexts", "context", context)
        cluster = self._entry("clusters", "cluster", str(chosen.content.get("cluster")))
        url = str(cluster.content.get("server") or "").rstrip("/")
        if not url:
            raise cluster.error(f"{cluster.title} has no `server`")
        if not _is_url(url):
            raise cluster.error(f"{cluster.title}: `server` `{url}` is no URL of an API server")
        server = ServerConfig(
            url=url,
            namespace=chosen.content.get("namespace") or "default",
            ca_data=cluster.data("certificate-authority"),
            server_name=cluster.content.get("tls-server-name"),
            insecure=bool(cluster.content.get("insecure-skip-tls-verify")),
            proxy=cluster.content.get("proxy-url") or _environment_proxy(url),
        )
        if not chosen.content.get("user"):
            return server
        user = self._entry("users", "user", str(chosen.content["user"]))
        if user.content.get("auth-provider"):
            return _by_package(server, user, context)
        return _with_credentials(server, user)

    def _entry(self, section: str, field_name: str, name: str) -> _Entry:
        for path, document in self._files:
            entries = document.get(section) or []
            if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
                raise InputError(f"`{section}` is not a list of mappings", file=str(path))
            for entry in entries:
                if entry.get("name") == name:
                    title = f"{field_name} `{name}`"
                    found = _Entry(path, title, entry.get(field_name) or {})
                    if not isinstance(found.content, Mapping):
                        raise found.error(f"{title} is not a mapping")
                    return found
        raise self._error(f"{field_name} `{name}` is not defined")

    def _error(self, message: str) -> InputError:
        return InputError(message, file=os.pathsep.join(str(path) for path, _ in self._files))


def _environment_proxy(url: str) -> str | None:
    """Return the proxy that `HTTPS_PROXY` and `NO_PROXY` name for a server, as kubectl does; never one for loopback."""
    from urllib import request

    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in ("localhost", "::1") or host.startswith("127."):
        return None
    if request.proxy_bypass(f"{host}:{parts.port}" if parts.port else host):
        return None
    return request.getproxies().get(parts.scheme)


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # the port is no number
        return False


def _with_credentials(server: ServerConfig, user: _Entry) -> ServerConfig:
    """Return `server` with the identity of `user`."""
    content = user.content
    for name in ("as", "as-uid", "as-groups", "as-user-extra"):
        if content.get(name):
            raise user.error(f"{user.title}: impersonation (`{name}`) is not supported")
    given = replace(user, content=_run_plugin(user, content["exec"])) if content.get("exec") else user
    token_file = content.get("tokenFile")
    return replace(
        server,
        token=given.content.get("token"),
        token_file=user.path.parent / token_file if token_file else None,
        certificate=given.data("client-certificate"),
        key=given.data("client-key"),
        password=(str(content["username"]), str(content.get("password", ""))) if content.get("username") else None,
    )


def _run_plugin(user: _Entry, plugin: Mapping[str, Any]) -> Mapping[str, Any]:
    """Run a credential plugin and return its status with the names of a kubeconfig user."""
    command = [str(plugin.get("command", "")), *map(str, plugin.get("args") or [])]
    if "/" in command[0]:
        command[0] = str(user.path.parent / command[0])
    environment = {entry["name"]: entry["value"] for entry in plugin.get("env") or []}
    info = {"apiVersion": plugin.get("apiVersion"), "kind": "ExecCredential", "spec": {"interactive": False}}
    try:
        result = subprocess.run(  # noqa: S603 - running the named command is what a kubeconfig asks for
            command,
            env={**os.environ, **environment, "KUBERNETES_EXEC_INFO": json.dumps(info)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        status = json.loads(result.stdout)["status"]
    except (OSError, subprocess.CalledProcessError, ValueError, KeyError) as error:
        said = error.stderr.decode(errors="replace").strip() if isinstance(error, subprocess.CalledProcessError) else ""
        hint = plugin.get("installHint") if isinstance(error, FileNotFoundError) else said or None
        raise user.error(f"credential plugin `{plugin.get('command', '')}` failed: {error}", hint=hint) from error
    encoded = {
        f"{name}-data": base64.b64encode(status[key].encode()).decode()
        for name, key in (("client-certificate", "clientCertificateData"), ("client-key", "clientKeyData"))
        if status.get(key)
    }
    return {"token": status.get("token"), **encoded}


def _by_package(server: ServerConfig, user: _Entry, context: str) -> ServerConfig:
    """Return `server` with the token that the `kubernetes` package gets from the user's `auth-provider`."""
    try:
        from kubernetes import client
        from kubernetes import config as package
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"the `auth-provider` of {user.title}", "scheduler") from error
    configuration = client.Configuration()
    load: Callable[..., None] = package.load_kube_config
    try:
        load(str(user.path), context, configuration, persist_config=False)
        authorization = configuration.get_api_key_with_prefix("BearerToken", "authorization") or ""
    except Exception as error:  # the package's providers raise what their libraries raise
        raise user.error(f"{user.title}: `auth-provider` failed: {error}", hint="use an exec plugin") from error
    if not authorization.startswith("Bearer "):
        raise user.error(f"{user.title}: `auth-provider` gave no token", hint="use an exec plugin")
    return replace(server, token=authorization.removeprefix("Bearer "))
