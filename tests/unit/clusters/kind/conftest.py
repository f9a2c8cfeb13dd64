from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.unit.clusters.kind.machine import Machine


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine whose `docker`, `kind` and `helm` are stand-ins."""
    return Machine(tmp_path / "machine", monkeypatch, os.environ["PATH"])
