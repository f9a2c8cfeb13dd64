"""What a Docker daemon changes on a machine beside its own files, and how that is undone.

A daemon that ends in peace leaves its bridges, its firewall rules and IP forwarding; one that is killed also its
containers and their mounts.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shlex
import signal
import socket
import struct
import subprocess
import time
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any

SETTINGS = ("net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding", "net/ipv6/conf/default/forwarding")
FOLDERS = ("/run/docker", "/run/containerd", "/etc/docker", "/opt/containerd", "/lib/modules")
"""Made by the daemon wherever its data is; the last by kind, which has each node see the host's modules."""
TABLES = ("filter", "nat", "raw")
# linux/sockios.h
_SIOCSIFFLAGS, _SIOCBRADDBR, _SIOCBRDELBR = 0x8914, 0x89A0, 0x89A1


def before(env: dict[str, str]) -> dict[str, Any]:
    """Return how the machine is now, as far as a daemon changes it."""
    settings = {name: path.read_text().strip() for name in SETTINGS if (path := Path("/proc/sys", name)).exists()}
    rules = {f"{program} {table}": _rules(program, table, env) for program in _PROGRAMS for table in TABLES}
    return {"settings": settings, "rules": rules, "folders": [name for name in FOLDERS if not Path(name).exists()]}


def remove(was: dict[str, Any], bridges: list[str], env: dict[str, str]) -> None:
    """Put the machine back: rules and chains that came with Docker, bridges, settings."""
    for place, rules in was["rules"].items():
        program, table = place.split()
        for arguments in undoing(_rules(program, table, env), rules, bridges):
            subprocess.run([program, "--wait", "--table", table, *arguments], check=False, env=env, capture_output=True)
    for name in bridges:
        delete_bridge(name)
    for name, value in was["settings"].items():
        path = Path("/proc/sys", name)
        if path.read_text().strip() != value:
            path.write_text(value)
    for name in was["folders"]:
        tidy(Path(name))


def tidy(folder: Path) -> None:
    """Remove a folder that is empty but for what nobody uses: a daemon's key, sockets of shims that were killed."""
    for place, _, names in os.walk(folder, topdown=False):
        for path in (Path(place, name) for name in names):
            if path.name == "key.json" or is_dead(path):
                path.unlink()
        with contextlib.suppress(OSError):
            Path(place).rmdir()


def is_dead(path: Path) -> bool:
    """Return whether the file is a socket that nobody listens on."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
        except ConnectionRefusedError:
            return path.is_socket()
        except OSError:
            pass
    return False


def undoing(now: list[str], was: list[str], bridges: list[str]) -> list[list[str]]:
    """Return the arguments of iptables that take Docker's rules out, and leave what others have added meanwhile.

    `now` and `was` are rules as `iptables -S` prints them. Another daemon's chains have been there before.
    """
    kept = set(was)
    new = [shlex.split(rule) for rule in now if rule not in kept]
    chains = [words[1] for words in new if words[0] == "-N" and words[1].startswith("DOCKER")]
    named = {*chains, *bridges}
    added = [words for words in new if words[0] == "-A"]
    networks = [_source(words) for words in added if named.intersection(words)]
    deleted = [["-D", *words[1:]] for words in added if named.intersection(words) or _is_within(networks, words)]
    emptied = [[option, chain] for option in ("-F", "-X") for chain in chains]
    policies = [words for rule in was if (words := shlex.split(rule))[0] == "-P" and rule not in now]
    return [*(rule for rule in deleted if rule[1] not in chains), *emptied, *policies]


def _source(words: list[str]) -> IPv4Network | IPv6Network | None:
    return ip_network(words[words.index("-s") + 1]) if "-s" in words else None


def _is_within(networks: list[IPv4Network | IPv6Network | None], words: list[str]) -> bool:
    """Return whether the rule is of one container: for a published port there is one that names no bridge."""
    source = _source(words)
    return source is not None and any(source.subnet_of(network) for network in networks if network)  # type: ignore[arg-type]


def add_bridge(name: str) -> None:
    """Make a bridge, unless it is there. The daemon gives it an address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control, contextlib.suppress(FileExistsError):
        fcntl.ioctl(control, _SIOCBRADDBR, name.encode() + b"\0")


def delete_bridge(name: str) -> None:
    """Delete a bridge, if it is there."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control, contextlib.suppress(OSError):
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh22x", name.encode(), 0))
        fcntl.ioctl(control, _SIOCBRDELBR, name.encode() + b"\0")


def end_containers(folder: Path) -> None:
    """Kill the containers of a daemon that was killed, and the shims that hold them."""
    for file in folder.glob("containerd/daemon/io.containerd.runtime.v2.task/*/*/init.pid"):
        pid, name = int(file.read_text()), file.parent.name
        with contextlib.suppress(OSError):
            if name in Path(f"/proc/{pid}/cgroup").read_text():
                os.kill(pid, signal.SIGKILL)
                gone(pid, 10)
    # A daemon's containerd goes with it; a shim does not.
    for pid in (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()):
        if f"{folder}/containerd/containerd.sock".encode() in command_of(pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                gone(pid, 10)


def remove_cgroups(name: str) -> None:
    """Remove a control group without processes, with those in it, from each hierarchy."""
    for group in (*Path("/sys/fs/cgroup").glob(name), *Path("/sys/fs/cgroup").glob(f"*/{name}")):
        for folder, _, _ in os.walk(group, topdown=False):
            with contextlib.suppress(OSError):
                Path(folder).rmdir()


def unmount(*folders: Path) -> None:
    """Unmount all that is mounted in the folders, the last first."""
    mounted = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    for point in reversed(mounted):
        place = Path(re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), point))
        if any(place.is_relative_to(folder) for folder in folders):
            subprocess.run(["umount", "--lazy", place], check=False, capture_output=True)


def command_of(pid: int) -> bytes:
    """Return the command line of a process; empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def gone(pid: int, seconds: float) -> bool:
    """Wait until a process, not a child of ours, is gone; return whether it is."""
    deadline = time.monotonic() + seconds
    while command_of(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


_PROGRAMS = ("iptables", "ip6tables")


def _rules(program: str, table: str, env: dict[str, str]) -> list[str]:
    try:
        done = subprocess.run(
            [program, "--wait", "--table", table, "-S"], check=False, env=env, capture_output=True, text=True
        )
    except FileNotFoundError:
        return []
    return done.stdout.splitlines()
