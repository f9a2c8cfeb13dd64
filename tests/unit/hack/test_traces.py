"""What the private Docker daemon leaves in the firewall is taken out, and nothing else."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from hack.kind import traces

if TYPE_CHECKING:
    from pathlib import Path

WAS = ["-P FORWARD ACCEPT", "-P OUTPUT ACCEPT", "-A FORWARD -i lo -j ACCEPT"]
DOCKER = [
    "-P FORWARD DROP",
    "-P OUTPUT ACCEPT",
    "-N DOCKER",
    "-N OTHERS",
    "-A FORWARD -i lo -j ACCEPT",
    "-A FORWARD -j DOCKER",
    "-A FORWARD ! -i br-0123456789ab -o br-0123456789ab -j ACCEPT",
    "-A FORWARD -j OTHERS",
    "-A DOCKER -o br-0123456789ab -j RETURN",
    "-A OTHERS -i eth0 -j DROP",
]


def test_rules_chains_and_policies_of_docker_are_undone_in_an_order_that_works() -> None:
    assert traces.undoing(DOCKER, WAS, ["br-0123456789ab"]) == [
        ["-D", "FORWARD", "-j", "DOCKER"],
        ["-D", "FORWARD", "!", "-i", "br-0123456789ab", "-o", "br-0123456789ab", "-j", "ACCEPT"],
        ["-F", "DOCKER"],
        ["-X", "DOCKER"],
        ["-P", "FORWARD", "ACCEPT"],
    ]


def test_rules_of_a_published_port_name_the_container_alone() -> None:
    now = [
        "-A POSTROUTING -s 172.18.0.0/16 ! -o br-0123456789ab -j MASQUERADE",
        "-A POSTROUTING -s 172.18.0.2/32 -d 172.18.0.2/32 -p tcp -m tcp --dport 80 -j MASQUERADE",
        "-A POSTROUTING -s 10.0.0.2/32 -j MASQUERADE",
    ]
    assert [" ".join(words) for words in traces.undoing(now, [], ["br-0123456789ab"])] == [
        rule.replace("-A", "-D") for rule in now[:2]
    ]


def test_another_daemon_keeps_its_chains() -> None:
    was = [rule for rule in DOCKER if "br-0123456789ab" not in rule]
    assert traces.undoing(DOCKER, was, ["br-0123456789ab"]) == [
        ["-D", "FORWARD", "!", "-i", "br-0123456789ab", "-o", "br-0123456789ab", "-j", "ACCEPT"],
        ["-D", "DOCKER", "-o", "br-0123456789ab", "-j", "RETURN"],
    ]


def test_nothing_is_undone_where_nothing_changed() -> None:
    assert traces.undoing(WAS, WAS, ["drayman0"]) == []


def test_folders_go_unless_somebody_uses_them(tmp_path: Path) -> None:
    unused, used = tmp_path / "unused", tmp_path / "used"
    for folder in (unused / "s", used / "s", used / "empty"):
        folder.mkdir(parents=True)
    (unused / "key.json").write_text("{}")
    (used / "file").write_text("another's")
    with socket.socket(socket.AF_UNIX) as dead, socket.socket(socket.AF_UNIX) as alive:
        dead.bind(str(unused / "s/dead"))
        alive.bind(str(used / "s/alive"))
        alive.listen()
        traces.tidy(unused)
        traces.tidy(used)
        assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == [
            "used",
            "used/file",
            "used/s",
            "used/s/alive",
        ]
