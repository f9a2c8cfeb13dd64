"""A cluster that runs beside the tests: started by the command line, ended with the tests, however they end."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import pytest

from drayman.kube import connect
from drayman.testing.clusters import registry

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from drayman.kube.client import Client

READY = "running until interrupted"
END_SECONDS = 200
_SCHEDULERS = {
    "drayman": "drayman's scheduler",
    "upstream": "kube-scheduler",
    "both": "drayman's scheduler beside kube-scheduler",
}


@dataclass(frozen=True, slots=True)
class Chosen:
    """A kind of cluster; `options` are arguments of `cluster up` that only this kind has."""

    backend: str
    scheduler: str
    kubelet: str
    options: tuple[str, ...] = ()

    @property
    def is_virtual(self) -> bool:
        """Whether it is embedded in the tests, with a time of its own."""
        return self.backend == "fake" and self.scheduler == "drayman"

    @property
    def is_real(self) -> bool:
        """Whether real kubelets run real containers."""
        return self.backend == "kind" or (self.backend == "local" and self.kubelet == "real")

    @property
    def is_deployed(self) -> bool:
        """Whether scheduler and driver are pods."""
        return self.backend == "kind"

    @property
    def has_rival(self) -> bool:
        """Whether kube-scheduler serves its own pods, beside ours."""
        return self.scheduler == "both" or (self.backend == "kind" and self.scheduler == "drayman")

    def __str__(self) -> str:
        scheduler = _SCHEDULERS[self.scheduler]
        kubelet = f", {self.kubelet} kubelet" if self.backend == "local" else ""
        return f"backend {self.backend} with {scheduler}{kubelet}"


class Started:
    """A running cluster; `logs` keeps what its processes say."""

    def __init__(self, chosen: Chosen, logs: Path) -> None:
        self.chosen = chosen
        self.logs = logs
        self.name = f"e2e-{os.getpid()}"
        self._log = logs / "cluster.log"
        self._process: subprocess.Popen[str] | None = None
        self._answered = threading.Event()
        self._reader = threading.Thread(target=self._read, name="output of the cluster")

    def __enter__(self) -> Self:
        # A test run that is killed takes its cluster with it.
        bound = ["setpriv", "--pdeathsig", "TERM", "--"] if shutil.which("setpriv") else []
        command = [*bound, sys.executable, "-m", "drayman", "cluster", "up", self.name, "--logs", str(self.logs)]
        chosen = self.chosen
        command += ["--backend", chosen.backend, "--scheduler", chosen.scheduler, "--kubelet", chosen.kubelet, "-v"]
        command += chosen.options
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self._reader.start()
        try:
            self._answered.wait()
        except BaseException:
            # Nobody leaves what was never entered, and Python waits for the reader, which waits for the cluster's end.
            self._process.terminate()
            raise
        if self._process.poll() is not None:
            pytest.exit(f"no cluster: {self._log.read_text()}", returncode=1)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.terminate()
        code = self._process.wait(timeout=END_SECONDS)
        self._reader.join()
        assert code == 0, f"the cluster ended with an error:\n{self._log.read_text()}"

    def _read(self) -> None:
        """Keep what the cluster says, so that it can go on, and see when it is ready or over."""
        assert self._process is not None
        assert self._process.stdout is not None
        with self._log.open("w") as log, self._process.stdout as output:
            for line in output:
                log.write(line)
                log.flush()
                if line.startswith(READY):
                    self._answered.set()
        self._process.wait()
        self._answered.set()

    @property
    def nodes(self) -> int:
        """How many nodes it has."""
        return registry.existing(self.name).nodes

    @property
    def kubernetes(self) -> str:
        """The version of Kubernetes that it is."""
        return registry.existing(self.name).kubernetes

    def connected(self) -> AbstractAsyncContextManager[Client]:
        """Return a connection to its API server, for the loop that runs."""
        return connect.client(str(registry.kubeconfig(self.name)), user_agent="drayman-e2e")
