"""The images of containers, made from nothing but a static busybox: `testbox`, and `pause` for pods themselves."""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

TESTBOX = "docker.io/drayman/testbox:1"
PAUSE = "docker.io/drayman/pause:1"

APPLETS = (
    "sh", "env", "sleep", "cat", "ls", "echo", "true", "false", "test", "id", "hostname", "mount", "ps", "grep",
    "head", "tail", "wc", "date", "mkdir", "rm", "touch", "kill", "sort", "printenv", "wget", "nc", "ip",
)  # fmt: skip
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_WAIT = "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done"


@dataclass(frozen=True, slots=True)
class Image:
    """An image with one layer. `stop_signal` ends its containers."""

    name: str
    command: Sequence[str]
    stop_signal: str


IMAGES = (
    # The shell is process 1 there and heeds no other signal, so that each pod would take its whole grace to end.
    Image(TESTBOX, ("sh",), "SIGKILL"),
    Image(PAUSE, ("/bin/sh", "-c", _WAIT), "SIGTERM"),
)


def write(path: Path, busybox: Path, images: Sequence[Image] = IMAGES) -> None:
    """Write the images into one archive as `docker save` does; the same busybox gives the same bytes."""
    _write(path, _layer(busybox.read_bytes()), images)


def write_files(path: Path, files: Mapping[str, Path], images: Sequence[Image]) -> None:
    """Write images that have nothing but `files`, given with their paths inside, as `write` does."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as layer:
        for inside, file in sorted(files.items()):
            mode = 0o755 if os.access(file, os.X_OK) else 0o644
            _add(layer, inside, file.read_bytes(), mode=mode)
    _write(path, buffer.getvalue(), images)


def _write(path: Path, layer: bytes, images: Sequence[Image]) -> None:
    digest = hashlib.sha256(layer).hexdigest()
    manifest = []
    with tarfile.open(path, "w") as archive:
        _add(archive, f"{digest}/layer.tar", layer)
        for image in images:
            config = json.dumps(_config(image, digest), sort_keys=True).encode()
            name = f"{hashlib.sha256(config).hexdigest()}.json"
            _add(archive, name, config)
            manifest.append({"Config": name, "RepoTags": [image.name], "Layers": [f"{digest}/layer.tar"]})
        _add(archive, "manifest.json", json.dumps(manifest).encode())


def config(image: Image, busybox: Path) -> dict[str, Any]:
    """Return the configuration that `write` gives an image: its command, and its layer's digest."""
    return _config(image, hashlib.sha256(_layer(busybox.read_bytes())).hexdigest())


def _config(image: Image, layer: str) -> dict[str, Any]:
    return {
        "architecture": _ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {
            "Cmd": list(image.command),
            "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
            "StopSignal": image.stop_signal,
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer}"]},
    }


def _layer(busybox: bytes) -> bytes:
    """Return a file system with busybox under its names, and the folders that runtimes mount into."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as layer:
        for folder in ("bin", "dev", "etc", "proc", "root", "sys", "tmp", "var", "var/run"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            layer.addfile(entry)
        _add(layer, "bin/busybox", busybox, mode=0o755)
        _add(layer, "etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n")
        for applet in APPLETS:
            entry = tarfile.TarInfo(f"bin/{applet}")
            entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
            layer.addfile(entry)
    return buffer.getvalue()


def _add(archive: tarfile.TarFile, name: str, content: bytes, *, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    archive.addfile(entry, io.BytesIO(content))
