"""What is taken out of the installed packages: what no program reads, and nothing that one does."""

from __future__ import annotations

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).parents[3] / "e2e/images/install.py"


def test_only_what_no_program_reads_is_removed(tmp_path: Path) -> None:
    kept = {"aiohttp/client.py", "aiohttp/_http.so", "drayman/testing/cluster.py", "grpc/_cython/roots.pem"}
    removed = {"aiohttp/_http.pyx", "aiohttp/_http.c", "yaml/__init__.pyi", "grpc/tests/test_a.py", "x/py.typed"}
    for name in kept | removed:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    spec = importlib.util.spec_from_file_location("install", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    install = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(install)

    install.strip(tmp_path)

    assert {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()} == kept
