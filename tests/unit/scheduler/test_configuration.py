"""Reading a KubeSchedulerConfiguration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from drayman.errors import InputError
from drayman.kube.election import LeaderElection
from drayman.scheduler import Configuration, Profile


def config(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **fields}


def test_empty_configuration_serves_the_default_profile() -> None:
    assert Configuration.from_object(config()) == Configuration(profiles=(Profile("drayman"),))


def test_everything_that_is_used_is_read() -> None:
    read = Configuration.from_object(
        config(
            podInitialBackoffSeconds=2,
            podMaxBackoffSeconds=20,
            percentageOfNodesToScore=50,
            leaderElection={"leaderElect": True, "leaseDuration": "1m30s", "retryPeriod": "0s", "resourceName": ""},
            delayCacheUntilActive=True,
            profiles=[
                {
                    "schedulerName": "gpu",
                    "plugins": {
                        "multiPoint": {"enabled": [{"name": "Mine", "weight": 3}], "disabled": [{"name": "NodePorts"}]},
                        "score": {"disabled": [{"name": "TaintToleration"}]},
                    },
                    "pluginConfig": [
                        {"name": "Drayman", "args": {"compatibility": "1.37", "explain": False}},
                        {"name": "Mine", "args": {"color": "red"}},
                    ],
                }
            ],
        )
    )

    assert read.initial_backoff_seconds == 2
    assert read.max_backoff_seconds == 20
    assert read.compatibility == "1.37"
    assert read.explain is False
    assert read.leader_election == LeaderElection(leader_elect=True, lease_duration=90)
    assert read.delay_cache_until_active is True
    (profile,) = read.profiles
    assert profile.scheduler_name == "gpu"
    assert profile.enabled == ("Mine",)
    assert profile.disabled == {"NodePorts"}
    assert profile.weights == {"Mine": 3, "TaintToleration": 0}
    assert profile.arguments["Mine"] == {"color": "red"}


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        ({"kind": "Deployment"}, "kind: expected KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1"),
        (config(podInitalBackoffSeconds=1), 'podInitalBackoffSeconds: unknown field "podInitalBackoffSeconds"'),
        (config(profiles=[{"name": "x"}]), 'profiles[0].name: unknown field "profiles[0].name"'),
        (config(profiles=1), "profiles: must be a list, not `1`"),
        (config(profiles=["x"]), "profiles[0]: must be a mapping, not `x`"),
        (config(podInitialBackoffSeconds="x"), "podInitialBackoffSeconds: must be a number, not `x`"),
        (config(podInitialBackoffSeconds=True), "podInitialBackoffSeconds: must be a number, not `True`"),
        (
            config(profiles=[{"plugins": {"multiPoint": {"enabled": [{"weight": 1}]}}}]),
            "profiles[0].plugins.multiPoint.enabled[0].name: must be set",
        ),
        (
            config(profiles=[{"pluginConfig": [{"name": "Drayman", "args": {"explain": "no"}}]}]),
            "pluginConfig[Drayman].args.explain: must be true or false, not `no`",
        ),
        (config(leaderElection={"leaderElect": "yes"}), "leaderElection.leaderElect: must be true or false, not `yes`"),
        (config(leaderElection={"lease": "1s"}), 'leaderElection.lease: unknown field "leaderElection.lease"'),
        (config(leaderElection={"leaseDuration": 15}), "leaderElection.leaseDuration: must be text, not `15`"),
        (config(leaderElection={"retryPeriod": "2"}), "leaderElection.retryPeriod: `2` is not a duration"),
        (config(extenders=[{"urlPrefix": "http://localhost"}]), "extenders: extenders are not supported"),
        (
            config(profiles=[{"plugins": {"filter": {"disabled": [{"name": "NodePorts"}]}}}]),
            "profiles[0].plugins.filter: is not supported",
        ),
        (
            config(profiles=[{"pluginConfig": [{"name": "Drayman", "args": {"strategy": "best"}}]}]),
            "strategy: `best` is not known; known are `first-fit`",
        ),
        (
            config(profiles=[{"schedulerName": "a"}, {"schedulerName": "a"}]),
            "profiles: profiles need different names, and there must be one",
        ),
    ],
)
def test_wrong_configuration_is_refused_by_field(obj: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as raised:
        Configuration.from_object(obj)
    assert str(raised.value) == message


def test_error_in_a_file_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparalelism: 4\n")

    with pytest.raises(InputError) as raised:
        Configuration.from_file(file)

    assert str(raised.value) == f'{file}: paralelism: unknown field "paralelism"'


def test_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles:\n- schedulerName: gpu\n"
    )

    assert Configuration.from_file(file).profiles == (Profile("gpu"),)
