"""Scheduler and driver as processes of their own, as a pod runs them: health, and how they end."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.unit.servers import LiveServer, live_server

from drayman.kube.resources import LEASES

if TYPE_CHECKING:
    from collections.abc import Iterator

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-1"}}
QUICK = [
    "--leader-elect",
    "--leader-elect-resource-namespace=default",
    "--leader-elect-lease-duration=3s",
    "--leader-elect-renew-deadline=2s",
    "--leader-elect-retry-period=100ms",
]


def own_namespace() -> list[str]:
    """Return what makes a command the first process of a namespace, as in a container, where that is allowed."""
    command = ["unshare", "--pid", "--fork", "--kill-child"]
    allowed = shutil.which("unshare") and subprocess.run([*command, "true"], check=False, capture_output=True)
    return command if allowed and allowed.returncode == 0 else []


class Service:
    """`drayman VERB …` in a process of its own."""

    def __init__(self, *arguments: str, environment: dict[str, str] | None = None) -> None:
        self._wrapper = own_namespace()
        self.process = subprocess.Popen(
            [*self._wrapper, sys.executable, "-m", "drayman", *arguments],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self.said = ""

    def until(self, pattern: str) -> re.Match[str]:
        """Read what it logs until a line has `pattern`."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said += line
            if found := re.search(pattern, line):
                return found
        raise AssertionError(f"it ended, and said: {self.said}")

    def send(self, number: signal.Signals) -> None:
        pid = self.process.pid
        if self._wrapper:
            pid = int(Path(f"/proc/{pid}/task/{pid}/children").read_text())
        os.kill(pid, number)

    def end(self) -> tuple[int, str]:
        """Wait for the end, and return the exit code and what was logged at last."""
        _, rest = self.process.communicate(timeout=30)
        self.said += rest
        return self.process.returncode, rest


@contextlib.contextmanager
def running(*arguments: str, environment: dict[str, str] | None = None) -> Iterator[Service]:
    service = Service(*arguments, environment=environment)
    try:
        yield service
    finally:
        service.process.kill()
        service.process.communicate()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiveServer]:
    with live_server(tmp_path) as one:
        one.apply(NODE)
        yield one


@pytest.fixture
def short_root() -> Iterator[Path]:
    root = Path(tempfile.mkdtemp(prefix="dm-", dir="/tmp"))
    yield root
    shutil.rmtree(root)


def scheduler(server: LiveServer, *options: str) -> list[str]:
    return ["scheduler", "--kubeconfig", str(server.kubeconfig), *options]


def driver(server: LiveServer, root: Path, *options: str) -> list[str]:
    folders = [
        f"--kubelet-registrar-directory-path={root / 'reg'}",
        f"--kubelet-plugins-directory-path={root / 'plugins'}",
        f"--cdi-root={root / 'cdi'}",
    ]
    return ["driver", "--kubeconfig", str(server.kubeconfig), "--node-name=worker-1", *folders, *options]


def fetch(address: str, path: str) -> str:
    with urllib.request.urlopen(f"http://{address}{path}", timeout=10) as answer:
        text: str = answer.read().decode()
        return text


def test_scheduler_answers_probes_and_ends_when_it_is_told(server: LiveServer) -> None:
    with running(*scheduler(server, "--health-bind-address=127.0.0.1:0")) as service:
        address = service.until(r"health is served on (\S+)")[1]
        service.until("scheduling pods of drayman")
        ready, live = fetch(address, "/readyz?verbose"), fetch(address, "/livez")
        service.send(signal.SIGTERM)
        code, _ = service.end()

    assert ready == "[+]ping ok\n[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n"
    assert (live, code) == ("ok", 0)


def test_driver_answers_probes_and_ends_when_it_is_told(server: LiveServer, short_root: Path) -> None:
    with running(*driver(server, short_root, "--health-bind-address=127.0.0.1:0")) as service:
        address = service.until(r"health is served on (\S+)")[1]
        service.until("driver started")
        live = fetch(address, "/livez?verbose")
        service.send(signal.SIGTERM)
        code, _ = service.end()

    assert live == "[+]ping ok\n[+]plugin ok\n[+]registration ok\nlivez check passed\n"
    assert (code, list(short_root.glob("**/*.sock"))) == (0, [])


def test_interrupted_service_says_so_by_its_exit_code(server: LiveServer) -> None:
    with running(*scheduler(server)) as service:
        service.until("scheduling pods of drayman")
        service.send(signal.SIGINT)
        assert service.end()[0] == 130


def test_leader_that_is_told_to_end_gives_up_the_lease(server: LiveServer) -> None:
    with running(*scheduler(server, *QUICK)) as service:
        service.until("scheduling pods of drayman")
        held = server.get("leases", "default/drayman-scheduler")["spec"]["holderIdentity"]
        service.send(signal.SIGTERM)
        code, _ = service.end()

    assert re.fullmatch(r".+_[0-9a-f-]{36}", held)
    assert (code, server.get("leases", "default/drayman-scheduler")["spec"]["holderIdentity"]) == (0, "")


def test_scheduler_that_loses_the_lead_ends_with_one_message(server: LiveServer) -> None:
    with running(*scheduler(server, *QUICK)) as service:
        service.until("scheduling pods of drayman")
        server.patch(LEASES, "drayman-scheduler", {"spec": {"holderIdentity": "other"}})
        code, said = service.end()

    assert code == 1
    assert said.splitlines()[-1] == "error: leaderelection lost: lease default/drayman-scheduler is held by `other` now"
