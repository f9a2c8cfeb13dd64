"""The image of containers that run nothing but a shell: the one that the backend `local` writes, loaded into Docker."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from hack.kind import engine

_WRITER = engine.ROOT / "python/drayman/testing/clusters/local/images.py"
_BUILD = engine.ROOT / "hack/controlplane/build"


def tag(repository: str) -> str:
    """Return the full name of the image."""
    return f"{repository}/{_writer().TESTBOX.rpartition('/')[2]}"


def load(repository: str) -> bool:
    """Load the image where the daemon lacks it; return whether it did."""
    if is_loaded(repository):
        return False
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "testbox.tar"
        _write(archive, repository)
        engine.docker("load", "--quiet", "--input", str(archive))
    return True


def is_loaded(repository: str) -> bool:
    """Return whether the daemon has the image, with the content that it would have now."""
    found = engine.image(tag(repository))
    if found is None:
        return False
    writer = _writer()
    wanted = writer.config(_image(writer, repository), _busybox())
    return bool(
        found["RootFS"]["Layers"] == wanted["rootfs"]["diff_ids"]
        and found["Config"]["Cmd"] == wanted["config"]["Cmd"]
        and found["Config"].get("StopSignal") == wanted["config"]["StopSignal"]
    )


def _write(archive: Path, repository: str) -> None:
    writer = _writer()
    writer.write(archive, _busybox(), (_image(writer, repository),))


def _image(writer: Any, repository: str) -> Any:
    (image,) = (image for image in writer.IMAGES if image.name == writer.TESTBOX)
    return replace(image, name=tag(repository))


def _busybox() -> Path:
    """Return a static busybox: of the machine, or out of Debian's package."""
    done = subprocess.run([sys.executable, _BUILD, "busybox"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise engine.Failure(f"`busybox` is needed for testbox:\n{(done.stdout + done.stderr).strip()}")
    listed = subprocess.run([sys.executable, _BUILD, "--list", "busybox"], capture_output=True, text=True, check=True)
    return Path(listed.stdout.split("  ")[-1].strip())


def _writer() -> Any:
    """Return the module that writes images; it needs nothing of drayman, which may not be installed here."""
    name = "drayman_images"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, _WRITER)
        if spec is None or spec.loader is None:
            raise engine.Failure(f"no file `{_WRITER}`")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]
