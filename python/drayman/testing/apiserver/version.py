"""What the server says about itself at `/version`."""

from __future__ import annotations

import re


def information(kubernetes_version: str) -> dict[str, str]:
    """Return `version.Info` for a version such as `1.37`. Raises `ValueError` for something else."""
    found = re.fullmatch(r"v?(\d+)\.(\d+)(?:\.(\d+))?", kubernetes_version)
    if found is None:
        raise ValueError(f"`{kubernetes_version}` is not a version of Kubernetes")
    major, minor, patch = found.groups(default="0")
    return {
        "major": major,
        "minor": minor,
        "gitVersion": f"v{major}.{minor}.{patch}+drayman",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": "",
    }
