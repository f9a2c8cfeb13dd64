from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.unit.cli.manifests import claim

from drayman import cli

if TYPE_CHECKING:
    import argparse

    from tests.unit.cli.conftest import CommandLine

COMMANDS = (
    *((verb,) for verb in cli.VERBS),
    *(("cluster", action) for action in ("up", "list", "down", "kubeconfig")),
    *(("manifests", part) for part in ("scheduler", "driver")),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(drayman: CommandLine, command: tuple[str, ...]) -> None:
    result = drayman.run(*command, "--help")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"usage: drayman {' '.join(command)} [-h]")


def test_help_lists_the_verbs(drayman: CommandLine) -> None:
    result = drayman.run("--help")
    assert result.code == 0
    assert (
        result.out
        == """\
usage: drayman [-h] [--version] VERB ...

Which devices would this claim get, and if none, why: DRA allocation for Kubernetes.

options:
  -h, --help  show this help message and exit
  --version   print the versions and exit

verbs:
  VERB
    allocate  allocate claims offline: which devices would they get, and if none, why
    explain   say why a pod is not scheduled, or a claim not allocated, and what to change
    lint      check manifests: what the API server refuses, and what people get wrong
    cel       evaluate a CEL device selector: its type, its cost, and its value on devices
    slices    list ResourceSlices and their pools: devices, used and free
    devices   list devices: free, used, and by whom
    claims    list ResourceClaims: state, devices, and the pods that use them
    classes   list DeviceClasses: the devices that each selects, used and free
    pods      list pods with claims: what they got, and why they wait
    snapshot  write the objects of a cluster into a folder: what explain, simulate and every other
              verb need
    diff      say what changed in devices and claims between two states of a cluster
    simulate  say what the scheduler would do with manifests, in virtual time
    demo      run the tutorial: pods that ask for mock GPUs, and what they get
    cluster   start, list and end clusters on this machine, with their API on a loopback socket
    scheduler
              run the secondary scheduler against an API server, until interrupted
    driver    run the mock DRA driver for one node, until interrupted
    manifests
              print the manifests of the scheduler or the driver, for `kubectl apply`
    completion
              print a script that completes the command line in a shell
"""
    )


@pytest.mark.parametrize("verb", cli.VERBS)
def test_summary_of_a_verb_is_the_first_line_of_its_help(verb: str) -> None:
    assert (cli.module(verb).__doc__ or "").splitlines()[0] == cli.VERBS[verb]


@pytest.mark.parametrize("verb", cli.VERBS)
def test_help_of_every_verb_has_examples_and_fits(drayman: CommandLine, verb: str) -> None:
    lines = drayman.run(verb, "--help").out.splitlines()
    assert any(line.startswith(f"  drayman {verb}") for line in lines[lines.index("examples:") :])
    assert max(map(len, lines)) <= 100


def test_version_names_kernel_kubernetes_and_compatibility(drayman: CommandLine) -> None:
    result = drayman.run("--version")
    assert (result.code, result.out) == (0, "drayman 0.1.0 (Kubernetes 1.37.2, compatibility 1.37 and fixed)\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "drayman: error: the following arguments are required: VERB"),
        (("devcies",), "drayman: error: there is no verb `devcies`; did you mean `devices`?"),
        (("-n", "x", "xyz"), "drayman: error: there is no verb `xyz`"),
        (("allocate",), "drayman allocate: error: name at least one FILE"),
        (("simulate",), "drayman simulate: error: name at least one FILE"),
        (("cluster",), "drayman cluster: error: the following arguments are required: ACTION"),
        (("driver",), "drayman driver: error: the following arguments are required: --node-name"),
        (("demo", "--nope"), "drayman: error: unrecognized arguments: --nope"),
        (
            ("cluster", "up", "--port", "99999"),
            "drayman cluster up: error: argument --port: `99999` is not the number of a port",
        ),
    ],
)
def test_wrong_usage_ends_with_two(drayman: CommandLine, arguments: tuple[str, ...], message: str) -> None:
    result = drayman.run(*arguments)
    assert (result.code, result.out, result.err.splitlines()[-1]) == (2, "", message)


def raising(error: BaseException) -> object:
    def run(_: argparse.Namespace) -> int:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, ""),
        (ConnectionError("https://127.0.0.1:1: refused"), 1, "error: https://127.0.0.1:1: refused\n"),
        (PermissionError(13, "Permission denied", "/x"), 1, "error: /x: permission denied\n"),
        (ExceptionGroup("", [ExceptionGroup("", [ConnectionError("gone")])]), 1, "error: gone\n"),
    ],
)
def test_what_ends_a_verb_gives_the_exit_code(
    drayman: CommandLine, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, message: str
) -> None:
    monkeypatch.setattr("drayman.cli.demo.run", raising(error))
    result = drayman.run("demo")
    assert (result.code, result.out, result.err) == (code, "", message)


def test_mistake_of_ours_is_not_hidden(drayman: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drayman.cli.demo.run", raising(ExceptionGroup("", [KeyError("a bug")])))
    with pytest.raises(ExceptionGroup):
        drayman.run("demo")


def test_being_told_to_end_is_like_being_interrupted(drayman: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGTERM)

    def run(_: argparse.Namespace) -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        return 0

    monkeypatch.setattr("drayman.cli.demo.run", run)
    assert drayman.run("demo").code == 130
    assert signal.getsignal(signal.SIGTERM) is before


def test_reader_that_goes_away_ends_quietly(drayman: CommandLine) -> None:
    drayman.write("claims.yaml", "---\n".join(claim(f"c{number}") for number in range(300)))
    command = [sys.executable, "-m", "drayman", "allocate", "claims.yaml", "--with", "gpu.example.com", "-o", "json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert (process.stderr.read(), process.wait()) == (b"", 1)
    process.stderr.close()


@pytest.mark.parametrize(("stream", "err"), [(0, b"error: standard input is closed\n"), (1, b"")])
def test_streams_that_are_closed_are_no_surprise(drayman: CommandLine, stream: int, err: bytes) -> None:
    command = [sys.executable, "-c", f"import os, sys; os.close({stream}); os.execv(sys.executable, sys.argv[1:])"]
    command += [sys.executable, "-m", "drayman", "claims", "-"]
    done = subprocess.run(
        command, input=claim().encode(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
    )
    assert (done.returncode, done.stderr) == (int(stream == 0), err)


def test_characters_that_the_terminal_does_not_have_are_written_as_numbers(drayman: CommandLine) -> None:
    drayman.write("claim.yaml", claim(device_class="é"))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "drayman", "lint", "claim.yaml", "-o"]
    for form in ("text", "json", "github", "sarif"):
        done = subprocess.run([*command, form], env=environment, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (1, b"")
        assert b"\\xe9" in done.stdout or b"\\u00e9" in done.stdout


@pytest.mark.parametrize(("arguments", "code"), [(("cel", "true"), 1), (("claims", "claim.yaml"), 1), (("--help",), 0)])
def test_little_output_without_a_reader_ends_quietly_too(
    drayman: CommandLine, arguments: tuple[str, ...], code: int
) -> None:
    drayman.write("claim.yaml", claim())
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "drayman", *arguments]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.stderr, done.returncode) == (b"", code)


SHOW_MODULES = """\
import json, sys
from drayman.cli import main
code = main({arguments!r})
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})), file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.parametrize("verb", [("allocate", "claim.yaml"), ("cel", "true")])
def test_verbs_on_files_start_without_what_talks_to_servers(drayman: CommandLine, verb: tuple[str, str]) -> None:
    drayman.write("claim.yaml", claim())
    script = SHOW_MODULES.format(arguments=[*verb, "--with", "gpu.example.com"])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    servers = {"aiohttp", "grpc", "google", "kubernetes", "cryptography", "rich", "asyncio", "ssl"}
    assert servers & set(json.loads(done.stderr)) == set()


def test_commands_that_are_installed_are_there() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    assert project["scripts"].keys() == {"drayman", "kubectl-dra", "kubectl_complete-dra"}
    for target in project["scripts"].values():
        module, _, function = target.partition(":")
        assert callable(getattr(importlib.import_module(module), function))


def test_module_is_the_command(drayman: CommandLine) -> None:
    command = [sys.executable, "-m", "drayman", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == drayman.run("--version").out


@pytest.mark.parametrize(
    ("modules", "arguments", "what", "extra"),
    [
        ("grpc", ("simulate", "claim.yaml", "--nodes", "1"), "the fake kubelet", "driver"),
        ("grpc", ("driver", "--node-name", "n", "--kubeconfig", "config"), "the mock driver", "driver"),
        ("aiohttp", ("scheduler", "--kubeconfig", "config"), "talking to an API server", "scheduler"),
        ("aiohttp", ("driver", "--node-name", "n", "--kubeconfig", "config"), "talking to an API server", "scheduler"),
        ("aiohttp", ("cluster", "up"), "the fake cluster", "all"),
        ("cryptography", ("cluster", "up", "-d"), "the fake cluster", "all"),
        ("grpc", ("cluster", "up"), "the fake kubelet", "driver"),
    ],
)
def test_missing_extra_is_named(
    drayman: CommandLine, modules: str, arguments: tuple[str, ...], what: str, extra: str
) -> None:
    drayman.write("claim.yaml", claim(namespace="default"))
    drayman.write("config", KUBECONFIG)
    result = drayman.run_without(modules, *arguments)
    assert (result.code, result.err) == (
        1,
        f"error: {what} needs the extra `{extra}`\nhint: pip install 'drayman[{extra}]'\n",
    )


def test_simulation_without_nodes_needs_no_extra(drayman: CommandLine) -> None:
    drayman.write("claim.yaml", claim(namespace="default"))
    result = drayman.run_without("grpc google aiohttp kubernetes cryptography rich", "simulate", "claim.yaml")
    assert (result.code, result.err) == (0, "")


KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: c}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: c, user: {token: t}}]
"""
