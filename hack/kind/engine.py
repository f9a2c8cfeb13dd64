"""What the scripts of this folder ask of a Docker daemon, through the `docker` command and its DOCKER_HOST."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hack.kind import parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = Path(__file__).resolve().parents[2]
INPUTS = "io.drayman.inputs"
"""The label with the digest of all that an image is made from."""

_SHOWN_LINES = 30
_HOST = re.compile(r"(?:unix|tcp|https?|ssh|fd|npipe)://.+|[^/]*:[0-9]+")
_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_COMPONENT = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_REGISTRY = rf"(?=[^/]*[.:]|localhost/)(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?"
_NAME = re.compile(rf"(?:{_REGISTRY}/)?{_COMPONENT}(?:/{_COMPONENT})*")
_REQUEST = re.compile(r'\b(?:Get|Head|Post|Put|Delete) "[^"]*": ')
_ADVICE = re.compile(r"Run 'docker .*--help'|See 'docker .*--help'")


class Failure(Exception):  # noqa: N818  # it is how scripts end, not an error in them
    """Why a script ends, and what its user may do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def end(main: Callable[[], int]) -> None:
    """Run a script's `main` and exit with its code; failures are said in one line and a hint."""
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        if failure.hint:
            print(f"hint: {failure.hint}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def check_repository(text: str) -> None:
    """Raise :class:`Failure` for what names of images cannot begin with: Docker would only find no such image."""
    if _NAME.fullmatch(f"{text}/name") is None:
        raise Failure(
            f"`{text}` is no repository for images", "HOST[:PORT][/PATH] or PATH, with a path in small letters"
        )


def docker(*arguments: str) -> str:
    """Return what `docker ARGUMENTS` prints. Raises :class:`Failure` with what it said when it fails."""
    done = _ask(arguments)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        said = "\n".join([line for line in lines if line and not _ADVICE.match(line)][-_SHOWN_LINES:])
        raise Failure(f"`docker {' '.join(arguments[:2])}` failed:\n{said}")
    return done.stdout


def image(name: str) -> dict[str, Any] | None:
    """Return what the daemon knows about an image that it has, or None."""
    done = _ask(("image", "inspect", name))
    if done.returncode:
        return None
    (found,) = json.loads(done.stdout)
    return dict(found)


def label(name: str, key: str = INPUTS) -> str:
    """Return the label of an image; empty where there is no such image or label."""
    labels = ((image(name) or {}).get("Config") or {}).get("Labels") or {}
    return str(labels.get(key, ""))


def _ask(arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Run `docker`; failures of the daemon itself, which have nothing to do with the question, are raised."""
    parts.choose_docker()
    host = os.environ.get("DOCKER_HOST", "")
    if host and _HOST.fullmatch(host) is None:  # Docker would look for a machine of that name
        raise Failure(f"`{host}` in DOCKER_HOST is no address of a Docker daemon", "unix://PATH, tcp://HOST:PORT, …")
    try:
        done = subprocess.run(("docker", *arguments), capture_output=True, text=True, check=False)
    except (FileNotFoundError, PermissionError) as error:
        raise Failure("`docker` is needed and was not found", "install Docker's command line") from error
    if done.returncode and unreachable(done.stderr):
        said = _REQUEST.sub("", done.stderr.strip().splitlines()[-1])
        raise Failure(f"no Docker daemon answers at {host or 'its usual socket'}: {said}", "hack/kind/dockerd start")
    return done


def unreachable(said: str) -> bool:
    """Return whether `docker` says that it cannot talk to its daemon."""
    if "error response from daemon" in said.lower():  # such as that it cannot reach a registry
        return False
    return any(
        text in said.lower()
        for text in (
            "cannot connect to the docker daemon",
            "error during connect",
            "docker api at",
            "dial unix",
            "dial tcp",
        )
    )


def digest(paths: Iterable[Path], *also: str) -> str:
    """Return a digest of files, of the files in folders, and of texts; what tools leave beside sources is no part."""
    found = hashlib.sha256("\0".join(also).encode())
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if not file.is_file() or "__pycache__" in file.parts or file.suffix in {".so", ".pyc"}:
                continue
            name = file.relative_to(ROOT) if file.is_relative_to(ROOT) else Path(file.name)
            found.update(f"\0{name}\0{os.access(file, os.X_OK)}\0".encode())
            found.update(hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()
