"""What the private Docker daemon leaves in the firewall is taken out, and nothing else."""

from __future__ import annotations

from hack.kind import traces

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


def test_another_daemon_keeps_its_chains() -> None:
    was = [rule for rule in DOCKER if "br-0123456789ab" not in rule]
    assert traces.undoing(DOCKER, was, ["br-0123456789ab"]) == [
        ["-D", "FORWARD", "!", "-i", "br-0123456789ab", "-o", "br-0123456789ab", "-j", "ACCEPT"],
        ["-D", "DOCKER", "-o", "br-0123456789ab", "-j", "RETURN"],
    ]


def test_nothing_is_undone_where_nothing_changed() -> None:
    assert traces.undoing(WAS, WAS, ["drayman0"]) == []
