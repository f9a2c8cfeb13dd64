"""Running the command line in this process, in a folder of its own."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from drayman.cli import main


@dataclass(frozen=True, slots=True)
class Result:
    """How a run of the command ended, and what it printed."""

    code: int
    out: str
    err: str


class CommandLine:
    """Runs `drayman` with arguments; files are written to the working directory."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return name

    def run(self, *arguments: str, stdin: bytes = b"") -> Result:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capsys.readouterr()
        try:
            code = main(arguments)
        except SystemExit as exit_:  # argparse: wrong usage, or --help
            code = int(exit_.code or 0)
        printed = self._capsys.readouterr()
        return Result(code, printed.out, printed.err)

    def run_without(self, modules: str, *arguments: str) -> Result:
        """Run in a process of its own in which `modules`, separated by blanks, are not installed."""
        script = f"import sys; sys.modules.update(dict.fromkeys({modules.split()!r}))\n"
        script += f"from drayman.cli import main; sys.exit(main({list(arguments)!r}))"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def drayman(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("KUBECONFIG", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return CommandLine(tmp_path, capsys, monkeypatch)
