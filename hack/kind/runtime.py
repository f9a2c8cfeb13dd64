"""The runtime of the private Docker daemon: runc, asked for no capability that this machine has not to give.

    runtime.py /usr/sbin/runc [OPTIONS OF runc] create --bundle FOLDER NAME

A privileged container asks for all capabilities. Where the bounding set lacks one, as in many sandboxes, runc refuses
the whole container ("unable to apply caps"). So what is lacking is taken out of the container's `config.json`, or of
the file that describes a process to be run in it, before runc reads it. It runs at each `docker exec`, so that it
imports little: pathlib takes longer than all else here.
"""

import json
import os
import sys

CAPABILITIES = (
    "CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP",
    "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER",
    "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE",
    "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP",
    "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF",
    "CHECKPOINT_RESTORE",
)  # fmt: skip
"""By number, as the kernel counts them; a name that is not here is left alone."""

OPTIONS_WITH_VALUE = ("--root", "--log", "--log-format", "--criu", "--rootless")
COMMANDS = {"create": ("--bundle", "-b"), "run": ("--bundle", "-b"), "exec": ("--process", "-p")}
"""runc's commands that start something, and their options that tell where it is described."""


def main(arguments: list[str]) -> None:
    """Take out what is lacking, then become runc."""
    runc, *rest = arguments
    path = description(rest)
    if path is not None:
        drop(path, lacking())
    os.execv(runc, [runc, *rest])


def description(arguments: list[str]) -> str | None:
    """Return the file that describes what runc is to start, if it is to start anything."""
    position = 0
    while position < len(arguments) and arguments[position].startswith("-"):
        position += 2 if arguments[position] in OPTIONS_WITH_VALUE else 1
    command, options = (arguments[position], arguments[position + 1 :]) if position < len(arguments) else ("", [])
    if command not in COMMANDS:
        return None
    value = _value(options, COMMANDS[command])
    if command == "exec":
        return value
    return os.path.join(value or ".", "config.json")  # noqa: PTH118


def lacking(status: str = "/proc/self/status") -> frozenset[str]:
    """Return the capabilities that no process here can have."""
    with open(status) as lines:  # noqa: PTH123
        bounding = next(int(line.split()[1], 16) for line in lines if line.startswith("CapBnd:"))
    return frozenset(f"CAP_{name}" for bit, name in enumerate(CAPABILITIES) if not bounding >> bit & 1)


def drop(path: str, names: frozenset[str]) -> None:
    """Take `names` out of every list of capabilities in the file; one that asks for none of them stays as it is."""
    with open(path) as file:  # noqa: PTH123
        described = json.load(file)
    # `config.json` has the process inside; the file of `exec` is the process.
    process = described.get("process", described)
    lists = process.get("capabilities") or {}
    if not any(names.intersection(listed or ()) for listed in lists.values()):
        return
    process["capabilities"] = {
        kind: [name for name in listed or () if name not in names] for kind, listed in lists.items()
    }
    with open(f"{path}.new", "w") as file:  # noqa: PTH123
        json.dump(described, file)
    os.replace(f"{path}.new", path)  # noqa: PTH105


def _value(arguments: list[str], names: tuple[str, ...]) -> str | None:
    for number, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in names:
            return value if equals else arguments[number + 1]
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
