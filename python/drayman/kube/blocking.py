"""Reading from an API server without an event loop: what the command line's verbs need, on `http.client`.

Importing aiohttp alone takes longer than most verbs do.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from drayman.errors import APIStatusError, UnreachableError
from drayman.kube.client import Object, WatchEvent, event_of, status_of
from drayman.kube.http import Response

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drayman.kube.config import ServerConfig
    from drayman.kube.resources import Resource

PAGE = 500
"""How many objects a request for a list asks for."""

SECONDS = 30.0
"""How long the server may be silent in an answer; a watch may be for longer."""


class Reader:
    """Reads from one API server over one connection, which is opened when it is needed. Not safe for threads.

    The server may be silent for `seconds`. Every call raises :class:`~drayman.errors.APIStatusError` when it answers
    with a failure, with a hint where a right is missing, and :class:`~drayman.errors.UnreachableError` when it cannot
    be reached.
    """

    def __init__(self, config: ServerConfig, *, user_agent: str = "drayman", seconds: float = SECONDS) -> None:
        self.config = config
        self._seconds = seconds
        self._headers = {"accept": "application/json", "user-agent": user_agent}
        self._connection: http.client.HTTPConnection | None = None
        self._tls = config.ssl_context()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. Idempotent."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def interrupt(self) -> None:
        """End what another thread is reading; to it, the server has become unreachable."""
        connection = self._connection
        if connection is not None and connection.sock is not None:
            with contextlib.suppress(OSError):
                # Not the method of a TLS socket, which takes the session away under the reading thread.
                socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)

    def get(self, path: str, **query: str) -> Object:
        """Return the object at `path`."""
        with self._ask(path, query) as answer:
            body = answer.read()
        try:
            decoded = json.loads(body)
        except ValueError:
            decoded = None
        if not isinstance(decoded, dict):
            raise UnreachableError(f"{self.config.url} is no API server: {path} is not a JSON object")
        return decoded

    def list(
        self, resource: Resource, namespace: str | None = None, *, label_selector: str = "", field_selector: str = ""
    ) -> tuple[list[Object], str]:
        """Return the objects, each with `apiVersion` and `kind`, page by page, and the list's resourceVersion."""
        path = resource.path(namespace=namespace)
        selectors = {"labelSelector": label_selector, "fieldSelector": field_selector}
        try:
            pages = list(self._pages(path, selectors))
        except APIStatusError as error:
            if error.code != 410:
                raise
            pages = [self.get(path, **selectors)]  # the pages took too long: everything at once, as client-go does
        kind = {"apiVersion": resource.api_version, "kind": resource.kind}
        items = [{**kind, **item} for page in pages for item in page.get("items") or []]
        return items, str((pages[-1].get("metadata") or {}).get("resourceVersion", ""))

    def watch(
        self, resource: Resource, namespace: str | None = None, *, resource_version: str, label_selector: str = ""
    ) -> Iterator[WatchEvent]:
        """Yield what changes after `resource_version`, until the server ends the watch."""
        query = {
            "watch": "true",
            "resourceVersion": resource_version,
            "labelSelector": label_selector,
            "allowWatchBookmarks": "true",
        }
        with self._ask(resource.path(namespace=namespace), query, endless=True) as answer:
            while line := answer.readline():
                if line.strip():
                    yield event_of(line)

    def _pages(self, path: str, query: dict[str, str]) -> Iterator[Object]:
        token = ""
        while True:
            page = self.get(path, **query, limit=str(PAGE), **{"continue": token})
            yield page
            token = (page.get("metadata") or {}).get("continue") or ""
            if not token:
                return

    @contextlib.contextmanager
    def _ask(self, path: str, query: dict[str, str], *, endless: bool = False) -> Iterator[http.client.HTTPResponse]:
        """Send a GET request and yield the answer; one that is a failure is raised."""
        try:
            answer = self._answer(path, query)
            if endless and self._connection is not None and self._connection.sock is not None:
                self._connection.sock.settimeout(None)
            yield answer
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if isinstance(error, UnreachableError):
                raise
            raise self._unreachable(error) from error
        except BaseException:
            self.close()  # an answer that was not read to its end cannot be followed by another
            raise
        if endless:
            self.close()

    def _answer(self, path: str, query: dict[str, str]) -> http.client.HTTPResponse:
        filled = {name: value for name, value in query.items() if value}
        base = urlsplit(self.config.url).path
        target = base + quote(path) + (f"?{urlencode(filled)}" if filled else "")
        headers = {**self._headers, **self.config.authorization()}
        reused = self._connection is not None
        try:
            answer = self._send(target, headers)
        except (ConnectionError, http.client.HTTPException):
            # A server may close a connection that waits between two requests; a new one decides.
            self.close()
            if not reused:
                raise
            answer = self._send(target, headers)
        if answer.status >= 400:
            raise self._refused("watch" if query.get("watch") else "list", path, Response(answer.status, answer.read()))
        return answer

    def _send(self, target: str, headers: dict[str, str]) -> http.client.HTTPResponse:
        if self._connection is None:
            self._connection = self._connect()
        self._connection.request("GET", target, headers=headers)
        return self._connection.getresponse()

    def _connect(self) -> http.client.HTTPConnection:
        server = urlsplit(self.config.url)
        host, port = server.hostname or "", server.port or (443 if self._tls else 80)
        through = urlsplit(self.config.proxy) if self.config.proxy else None
        reach = (through.hostname or "", through.port or 80) if through else (host, port)
        connection: http.client.HTTPConnection
        if self._tls is None:
            connection = http.client.HTTPConnection(*reach, timeout=self._seconds)
        else:
            connection = _NamedConnection(*reach, timeout=self._seconds, context=self._tls)
            connection.server_name = self.config.server_name
        if through:
            connection.set_tunnel(host, port)
        return connection

    def _refused(self, verb: str, path: str, answer: Response) -> APIStatusError:
        status = status_of(answer)
        if answer.status not in (401, 403):
            return APIStatusError(status)
        what = "does not know who you are" if answer.status == 401 else "refuses"
        error = APIStatusError({**status, "message": f"{self.config.url} {what}: {status.get('message', '')}"})
        error.hint = (
            "the credentials of the kubeconfig are missing, wrong or expired"
            if answer.status == 401
            else _missing_right(verb, path, status)
        )
        return error

    def _unreachable(self, error: Exception) -> UnreachableError:
        url = self.config.url
        if isinstance(error, ssl.SSLCertVerificationError):
            unreachable = UnreachableError(f"{url}: the certificate is not trusted: {error.verify_message}")
            unreachable.hint = "see `certificate-authority-data` and `tls-server-name` of the kubeconfig's cluster"
        elif isinstance(error, ssl.SSLError):
            unreachable = UnreachableError(f"{url}: no TLS: {(error.reason or str(error)).lower().replace('_', ' ')}")
        elif isinstance(error, TimeoutError):
            unreachable = UnreachableError(f"{url} cannot be reached: no answer within {self._seconds:g} s")
        else:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            unreachable = UnreachableError(f"{url} cannot be reached: {reason.lower()}")
        return unreachable


class _NamedConnection(http.client.HTTPSConnection):
    """A connection whose server may have a certificate for another name than the one it is reached by."""

    server_name: str | None = None

    def connect(self) -> None:
        """Connect, and check the certificate for the name that is meant."""
        if self.server_name is None:
            super().connect()
            return
        http.client.HTTPConnection.connect(self)
        context: ssl.SSLContext = self._context  # type: ignore[attr-defined]  # where the base class keeps it
        self.sock: Any = context.wrap_socket(self.sock, server_hostname=self.server_name)


def _missing_right(verb: str, path: str, status: Object) -> str | None:
    """Say which right is missing, as `kubectl auth can-i` takes it."""
    details = status.get("details") or {}
    parts = path.strip("/").split("/")
    resource = details.get("kind") or (parts[-1] if len(parts) > 2 else "")
    if not resource:
        return None
    group = details.get("group") or (parts[1] if parts[0] == "apis" else "")
    where = f"-n {parts[parts.index('namespaces') + 1]}" if "namespaces" in parts[:-1] else "--all-namespaces"
    name = f"{resource}.{group}" if group else resource
    return f"the right to `{verb}` {name} is missing: kubectl auth can-i {verb} {name} {where}"
