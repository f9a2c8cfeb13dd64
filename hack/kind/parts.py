"""What all scripts of this folder share: where things are kept, which Docker they talk to, how they tell."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import Any

SOCKET = Path("/run/drayman-docker/docker.sock")
"""Of the private daemon."""


def cache() -> Path:
    """Return the folder of what is kept: `$DRAYMAN_CACHE`, else in the user's cache."""
    if chosen := os.environ.get("DRAYMAN_CACHE"):
        return Path(chosen).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "drayman"


def choose_docker() -> None:
    """Point docker at the private daemon where that runs and no other is chosen or there; find docker beside it."""
    if not os.environ.get("DOCKER_HOST") and not Path("/var/run/docker.sock").exists() and SOCKET.exists():
        os.environ["DOCKER_HOST"] = f"unix://{SOCKET}"
    if shutil.which("docker") is None:
        os.environ["PATH"] += f":{cache() / 'debian/docker/usr/bin'}"


def say(text: str) -> None:
    """Tell what is being done; stdout is for results."""
    print(text, file=sys.stderr, flush=True)


def module_of(path: Path) -> Any:
    """Return a script, or a module of a package that may not be installed here, as a module."""
    loader = importlib.machinery.SourceFileLoader(f"drayman_{path.stem.replace('-', '_')}", str(path))
    if loader.name not in sys.modules:
        spec = importlib.util.spec_from_loader(loader.name, loader)
        assert spec
        # Data classes look for their module there.
        sys.modules[loader.name] = importlib.util.module_from_spec(spec)
        loader.exec_module(sys.modules[loader.name])
    return sys.modules[loader.name]
