"""The node's view of the machine: folders that a kubelet and containerd write outside their own are the cluster's.

A mount namespace, held open by a process. Mounts of the node are seen in it alone and go with its last process. In it
`/run`, `/var/lib` and `/var/log` are folders of the cluster, and so are the kernel's settings that a kubelet changes.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from drayman.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drayman.testing.clusters.local.processes import Processes

HIDDEN = ("/run", "/var/lib", "/var/log")
_SETTINGS = (
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
)
_HOLD = """set -e
for target in "$@"; do mount --bind "$PLACES$target" "$target"; done
touch "$READY"
exec sleep infinity
"""
_READY_SECONDS = 10.0


def check() -> None:
    """Raise :class:`~drayman.errors.InputError` when a real kubelet cannot be run by this process."""
    hint = "--kubelet fake runs the control plane with fake kubelets"
    if os.geteuid() != 0:
        raise InputError("a real kubelet needs root", hint=hint)
    for tool in ("unshare", "nsenter"):
        if not shutil.which(tool):
            raise InputError(f"`{tool}` is needed for a real kubelet and was not found", hint="install util-linux")


class Room:
    """Makes the namespace, and says how a command is started in it."""

    def __init__(self, folder: Path) -> None:
        self._places = folder / "places"
        self._pid = 0

    async def open(self, processes: Processes, node_name: str) -> None:
        """Make the namespace. Raises :class:`~drayman.errors.DraymanError` when that is not allowed."""
        targets = [*HIDDEN, *self._copy_settings(), self._write_hosts(node_name)]
        for hidden in HIDDEN:
            self._place(hidden).mkdir(parents=True, exist_ok=True)
        ready = self._places / "ready"
        holder = await processes.start(
            "room",
            ["sh", "-c", _HOLD, "room", *targets],
            environment={**os.environ, "PLACES": str(self._places), "READY": str(ready)},
            prefix=["unshare", "--mount", "--propagation", "private", "--"],
        )
        self._pid = holder.pid

        async def opened() -> bool:
            return await asyncio.to_thread(ready.exists)

        await processes.until("no namespace for the node", opened, _READY_SECONDS)

    @property
    def prefix(self) -> Sequence[str]:
        """What starts a command in the namespace."""
        return ("nsenter", f"--mount=/proc/{self._pid}/ns/mnt", "--")

    def _place(self, target: str) -> Path:
        return self._places / target.lstrip("/")

    def _copy_settings(self) -> list[str]:
        targets = [f"/proc/sys/{name}" for name in _SETTINGS]
        targets = [target for target in targets if Path(target).exists()]
        for target in targets:
            self._place(target).parent.mkdir(parents=True, exist_ok=True)
            self._place(target).write_text(Path(target).read_text())
        return targets

    def _write_hosts(self, node_name: str) -> str:
        """Let the API server, which is started here, find the kubelet by its node's name on the loopback address."""
        place = self._place("/etc/hosts")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"127.0.0.1 localhost {node_name}\n::1 localhost\n")
        return "/etc/hosts"


def check_visible(paths: Sequence[Path]) -> None:
    """Raise :class:`~drayman.errors.InputError` for a program that the node would not see."""
    for path in paths:
        for hidden in HIDDEN:
            if path.resolve().is_relative_to(hidden):
                raise InputError(
                    f"`{path}` cannot be used: a node of its own sees nothing of `{hidden}`",
                    hint="put the programs elsewhere, with DRAYMAN_CACHE or DRAYMAN_CONTROLPLANE",
                )
