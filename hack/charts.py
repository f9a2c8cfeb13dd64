"""The manifests in `python/drayman/manifests/plain`, which helm makes from the charts: `hack/update --manifests`.

Called by itself it writes them; with `--check` it writes nothing and fails when one is out of date.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drayman import manifest, manifests

if TYPE_CHECKING:
    from collections.abc import Mapping

MANIFESTS = Path(__file__).resolve().parent.parent / "python/drayman/manifests"
PLAIN = {
    "scheduler.yaml": ("scheduler", {}),
    # What `drayman manifests scheduler` begins with: it has everything that a value can switch on.
    "scheduler-replicated.yaml": ("scheduler", {"replicaCount": 2}),
    "driver.yaml": ("driver", {}),
}
"""The files, with the parts and the values that they are made from."""

HEADER = "# Made from charts/{chart} by hack/update --manifests; `drayman manifests {part}` prints it with changes.\n"
KUBERNETES = "1.37.2"

NAMESPACE = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {
        "name": manifests.NAMESPACE,
        # The driver's pods have folders of their node. The same for both parts: neither takes it from the other.
        "labels": {"pod-security.kubernetes.io/enforce": "privileged"},
    },
}


def chart(part: str) -> Path:
    """Return the folder of a part's chart."""
    return MANIFESTS / "charts" / f"drayman-{part}"


def render(
    helm: Path, part: str, values: Mapping[str, Any], *, name: str = "", namespace: str = manifests.NAMESPACE
) -> list[Any]:
    """Return what `helm template` makes of the values, with the Namespace before it."""
    command = [helm, "template", name or f"drayman-{part}", chart(part), "--namespace", namespace]
    command += ["--kube-version", KUBERNETES, "--values", "-"]
    done = subprocess.run(command, input=json.dumps(values), capture_output=True, text=True, check=False)
    if done.returncode:
        raise ChartError(done.stderr.strip())
    rendered = [one.object for one in manifest.parse(done.stdout)]
    return [{**NAMESPACE, "metadata": {**NAMESPACE["metadata"], "name": namespace}}, *rendered]


class ChartError(Exception):
    """Helm refused; `str()` is what it said."""


def text(helm: Path, file: str) -> str:
    """Return what a file in `plain/` should hold."""
    part, values = PLAIN[file]
    return HEADER.format(chart=chart(part).name, part=part) + manifests.documents(render(helm, part, values))


def main() -> int:
    """Write or check the files; return the exit code."""
    helm = find_helm()
    for file in PLAIN:
        path, wanted = MANIFESTS / "plain" / file, text(helm, file)
        if "--check" not in sys.argv:
            path.write_text(wanted)
        elif not path.exists() or path.read_text() != wanted:
            print(f"{path.name} is out of date: run hack/update --manifests", file=sys.stderr)
            return 1
    return 0


def find_helm() -> Path:
    """Return the program that `hack/controlplane/build` makes."""
    from drayman.testing.clusters import programs

    return programs.find({"helm": "helm"})["helm"]


if __name__ == "__main__":
    sys.exit(main())
