from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.unit.servers import live_server

from drayman import cli
from drayman.cli import completion

if TYPE_CHECKING:
    from tests.unit.cli.conftest import CommandLine


def words(*given: str) -> list[str]:
    return [word for word, _ in completion.candidates(given)]


def test_verbs_complete_with_what_they_do() -> None:
    assert list(completion.candidates(["si"])) == [("simulate", cli.VERBS["simulate"])]
    assert words("") == list(cli.VERBS)
    assert words() == list(cli.VERBS)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("cluster", "d"), ["down"]),
        (("cluster", "up", "--det"), ["--detach"]),
        (("allocate", "--compatibility", ""), ["1.37", "fixed"]),
        (("allocate", "file", "--compatibility", "f"), ["fixed"]),
        (("completion", ""), ["bash", "zsh", "fish"]),
        (("completion", "bash", ""), []),
        (("completion", "--comp"), []),  # what the scripts use
        (("allocate", "--snapshot", ""), []),  # files are the shell's
        (("allocate", ""), []),
        (("nope", ""), []),
        (("-n", "x", "clu"), ["cluster"]),
        (("-A", "completion", "z"), ["zsh"]),
        (("devices", "--state", "f"), ["free"]),
        (("devices", "--state", "free,b"), ["free,blocked"]),
        (("lint", "--explain", "claim-name"), ["claim-name-is-template"]),
        (("lint", "--select", "syntax,count-w"), ["syntax,count-with-all"]),
        (("simulate", "--explain", "cl"), []),
        (("simulate", "--kubernetes-version", "1.3"), ["1.34", "1.35", "1.36", "1.37"]),
    ],
)
def test_what_can_follow(given: tuple[str, ...], expected: list[str]) -> None:
    assert words(*given) == expected


def test_contexts_and_namespaces_come_from_kubeconfig_and_cluster(drayman: CommandLine) -> None:
    with live_server(drayman.folder) as server:
        kubeconfig = ("allocate", "--kubeconfig", str(server.kubeconfig))
        assert words(*kubeconfig, "--context", "") == ["test"]
    assert words("allocate", "--kubeconfig", "missing", "--context", "") == []


def test_bash_completes_by_asking_the_command(drayman: CommandLine) -> None:
    command = drayman.folder / "drayman"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m drayman "$@"\n')
    command.chmod(0o755)
    script = drayman.run("completion", "bash").out + (
        "COMP_WORDS=(drayman cluster kube); COMP_CWORD=2; _drayman; echo ${COMPREPLY[*]}\n"
        "COMP_WORDS=(drayman allocate --compatibility ''); COMP_CWORD=3; _drayman; echo ${COMPREPLY[*]}\n"
    )
    environment = {**os.environ, "PATH": f"{drayman.folder}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert (done.stdout, done.stderr) == ("kubeconfig\n1.37 fixed\n", "")


@pytest.mark.parametrize("shell", completion.SCRIPTS)
def test_script_of_every_shell_asks_the_command(drayman: CommandLine, shell: str) -> None:
    result = drayman.run("completion", shell)
    assert (result.code, result.err) == (0, "")
    assert "drayman completion --complete" in result.out


def test_shell_that_is_not_named_is_wrong_usage(drayman: CommandLine) -> None:
    result = drayman.run("completion")
    assert (result.code, result.err.splitlines()[-1]) == (
        2,
        "drayman completion: error: name the shell: bash, zsh, fish",
    )


@pytest.mark.parametrize(
    ("word", "answer"), [("kub", "kubeconfig\tprint the kubeconfig of a cluster\n:4\n"), ("x", ":0\n")]
)
def test_kubectl_is_answered_as_it_expects(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, word: str, answer: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["kubectl_complete-dra", "cluster", word])
    assert completion.kubectl() == 0
    assert capsys.readouterr().out == answer


def test_kubectl_plugin_is_the_same_command_under_its_name(
    drayman: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Path().resolve() == drayman.folder
    monkeypatch.setattr(sys, "argv", ["kubectl-dra", "allocate", "--help"])
    with pytest.raises(SystemExit) as ended:
        cli.kubectl()
    assert ended.value.code == 0


def test_options_of_kubectl_may_stand_before_the_verb(drayman: CommandLine) -> None:
    result = drayman.run("--kubeconfig", "missing", "--context=x", "allocate")
    assert (result.code, result.err) == (
        1,
        "error: missing: cannot read the kubeconfig: No such file or directory\n",
    )
