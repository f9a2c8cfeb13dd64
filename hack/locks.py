"""Lock the Python packages: `requirements/*.txt`, each with the hashes of its files, written by `uv`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "requirements"
PYTHON = "3.11"

IMAGES = {"scheduler": "scheduler", "driver": "driver"}
"""The extra whose packages an image has."""

LEFT_OUT = {"kubernetes": "126 MB for the `auth-provider` of a kubeconfig; pods have service accounts"}
"""Packages of the extras that images do not have, and why."""

PIP = "pip>=25"


def update() -> int:
    """Write all lock files anew; return the exit code."""
    uv = ROOT / ".venv/bin/uv"
    command = [str(uv) if uv.exists() else shutil.which("uv") or "uv", "pip", "compile", "--quiet", "--universal"]
    command += ["--generate-hashes", "--no-header", "--no-annotate", "--python-version", PYTHON]
    with tempfile.TemporaryDirectory() as folder:
        none, pip = Path(folder) / "none.txt", Path(folder) / "pip.in"
        none.write_text("".join(f'{name} ; python_version < "0"\n' for name in LEFT_OUT))
        pip.write_text(f"{PIP}\n")
        everything = [part for part in command if part != "--no-annotate"] + ["--all-extras", "--group", "dev"]
        locks = {"all": [*everything, "pyproject.toml"], "pip": [*command, str(pip)]}
        # The versions are those that are tested, so the lock of everything comes first.
        tested = [*command, "-c", "requirements/all.txt", "--override", str(none), "pyproject.toml"]
        locks |= {image: [*tested, "--extra", extra] for image, extra in IMAGES.items()}
        for name, compile_lock in locks.items():
            done = subprocess.run([*compile_lock, "-o", f"requirements/{name}.txt"], cwd=ROOT, check=False)
            if done.returncode:
                print(f"error: requirements/{name}.txt could not be made", file=sys.stderr)
                return 1
    return 0
