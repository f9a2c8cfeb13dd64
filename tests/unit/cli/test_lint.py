"""`drayman lint`: what it prints in each form, what it fixes, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.cli.conftest import CommandLine
from tests.unit.servers import live_server

from drayman.driver import catalogue

CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: train, namespace: team-a}
spec:
  devices:
    requests:
    - name: gpu
      deviceClassName: gpu.example.com
      count: 2
"""
FIXED = CLAIM.replace(
    "      deviceClassName: gpu.example.com\n      count: 2\n",
    "      exactly:\n        deviceClassName: gpu.example.com\n        count: 2\n",
)
IDLE = """\
apiVersion: v1
kind: Pod
metadata: {name: idle}
spec:
  containers: [{name: main, image: "registry.example.com/app:1"}]
  resourceClaims:
  - {name: gpu, resourceClaimTemplateName: one-gpu}
"""


def test_text_shows_the_line_with_what_is_wrong_marked(drayman: CommandLine) -> None:
    drayman.write("claim.yaml", FIXED.replace("count: 2", "count: -2"))
    result = drayman.run("lint", "claim.yaml")
    assert result.code == 1
    assert (
        result.out
        == """\
error[api-validation]: spec.devices.requests[0].exactly.count: Invalid value: -2: must be
  greater than zero
  --> claim.yaml:10:16
   |
10 |         count: -2
   |                ^^
   = object: ResourceClaim team-a/train: spec.devices.requests[0].exactly.count

found 1 error
"""
    )
    assert result.err == ""


def test_text_marks_the_place_inside_an_expression_that_is_folded(drayman: CommandLine) -> None:
    selector = """\
        selectors:
        - cel:
            expression: >-
              device.driver == 'gpu.example.com'
              && device.attributes['gpu.example.com'].model.startsWith(7)
"""
    drayman.write("claim.yaml", FIXED + selector)
    result = drayman.run("lint", "claim.yaml", "--select", "api-validation")
    assert result.code == 1
    assert "--> claim.yaml:15:61\n" in result.out
    assert (
        """\
15 |               && device.attributes['gpu.example.com'].model.startsWith(7)
   |                                                             ^^^^^^^^^^
"""
        in result.out
    )


def test_warnings_alone_are_no_failure(drayman: CommandLine) -> None:
    drayman.write("pod.yaml", IDLE)
    result = drayman.run("lint", "pod.yaml")
    assert result.code == 0
    assert result.out.endswith("found 1 warning\n")
    assert "warning[pod-claim-not-consumed]: no container uses claim `gpu`" in result.out


def test_what_is_right_has_no_findings(drayman: CommandLine) -> None:
    drayman.write("claim.yaml", FIXED)
    result = drayman.run("lint", "claim.yaml", "--with", "gpu.example.com")
    assert (result.code, result.out, result.err) == (0, "no findings\n", "")


def test_json_has_places_and_edits(drayman: CommandLine) -> None:
    drayman.write("claim.yaml", CLAIM)
    result = drayman.run("lint", "claim.yaml", "-o", "json")
    assert result.code == 1
    answer = json.loads(result.out)
    assert {name: answer[name] for name in ("version", "kubernetes", "compatibility")} == {
        "version": 1,
        "kubernetes": "1.37",
        "compatibility": "1.37",
    }
    first, second = answer["diagnostics"]
    assert first == {
        "rule": "v1beta1-layout",
        "severity": "error",
        "object": "ResourceClaim team-a/train",
        "path": "spec.devices.requests[0].deviceClassName",
        "message": first["message"],
        "hint": first["hint"],
        "file": "claim.yaml",
        "line": 8,
        "column": 7,
        "endLine": 8,
        "endColumn": 22,
        "fix": {
            "safe": True,
            "edits": [
                {"line": 8, "column": 7, "endLine": 8, "endColumn": 7, "text": "exactly:\n        "},
                {"line": 9, "column": 1, "endLine": 9, "endColumn": 1, "text": "  "},
            ],
        },
    }
    assert (second["path"], second["fix"]) == ("spec.devices.requests[0].count", first["fix"])


def test_sarif_is_a_log_of_version_2_1_0(drayman: CommandLine) -> None:
    drayman.write("claims/a claim.yaml", CLAIM)
    result = drayman.run("lint", "claims", "-o", "sarif")
    log = json.loads(result.out)
    assert (log["version"], list(log), list(log["runs"][0])) == (
        "2.1.0",
        ["$schema", "version", "runs"],
        ["tool", "columnKind", "results"],
    )
    [rule] = log["runs"][0]["tool"]["driver"]["rules"]
    first = log["runs"][0]["results"][0]
    assert (rule["id"], first["ruleId"], first["ruleIndex"], first["level"]) == (
        "v1beta1-layout",
        "v1beta1-layout",
        0,
        "error",
    )
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "claims/a%20claim.yaml"},
        "region": {"startLine": 8, "startColumn": 7, "endLine": 8, "endColumn": 22},
    }
    assert first["fixes"][0]["artifactChanges"][0]["replacements"][1] == {
        "deletedRegion": {"startLine": 9, "startColumn": 1, "endLine": 9, "endColumn": 1},
        "insertedContent": {"text": "  "},
    }


def test_github_gets_annotations_in_one_line_each(drayman: CommandLine) -> None:
    drayman.write("pod.yaml", IDLE)
    result = drayman.run("lint", "pod.yaml", "-o", "github")
    assert result.out.count("\n") == 1
    assert result.out.startswith(
        "::warning file=pod.yaml,line=7,endLine=7,col=6,endColumn=10,title=drayman%3A pod-claim-not-consumed::"
        "Pod idle%0Ano container uses claim `gpu`"
    )


def test_fix_writes_the_file_and_says_how_much_is_left(drayman: CommandLine) -> None:
    drayman.write("claim.yaml", CLAIM)
    (drayman.folder / "claim.yaml").write_bytes(b"\xef\xbb\xbf" + CLAIM.encode())
    drayman.write("pod.yaml", IDLE)
    result = drayman.run("lint", ".", "--fix")
    assert (result.code, result.out.splitlines()[-1]) == (0, "fixed 2; found 1 warning")
    assert (drayman.folder / "claim.yaml").read_bytes() == b"\xef\xbb\xbf" + FIXED.encode()
    assert (drayman.folder / "pod.yaml").read_text() == IDLE
    assert drayman.run("lint", "claim.yaml", "--fix").out == "no findings\n"


def test_standard_input_is_fixed_to_standard_output(drayman: CommandLine) -> None:
    result = drayman.run("lint", "-", "--fix", stdin=CLAIM.encode())
    assert (result.code, result.out, result.err) == (0, FIXED, "fixed 2; no findings\n")


def test_bytes_that_are_no_text_are_a_finding_and_the_other_files_are_linted(drayman: CommandLine) -> None:
    (drayman.folder / "a.yaml").write_bytes(b"# caf\xe9\n" + FIXED.encode())
    drayman.write("b.yaml", CLAIM)
    result = drayman.run("lint", "a.yaml", "b.yaml", "--fix", "-o", "github")
    assert result.code == 1
    [finding] = result.out.splitlines()
    assert finding.endswith("line=1,endLine=1,col=6,endColumn=7,title=drayman%3A syntax::not text in UTF-8")
    assert (drayman.folder / "a.yaml").read_bytes() == b"# caf\xe9\n" + FIXED.encode()
    assert (drayman.folder / "b.yaml").read_text() == FIXED


def test_a_file_is_linted_once_and_folders_below_by_request(drayman: CommandLine) -> None:
    drayman.write("deploy/a.yaml", IDLE)
    drayman.write("deploy/prod/b.yaml", IDLE)
    drayman.write("deploy/.git/c.yaml", IDLE)
    result = drayman.run("lint", "deploy/a.yaml", "./deploy/a.yaml", "deploy")
    assert result.out.splitlines()[-1] == "found 1 warning"
    assert result.err == "note: the folders below `deploy` are left out: -R takes them too\n"
    result = drayman.run("lint", "-R", "deploy")
    assert (result.out.splitlines()[-1], result.err) == ("found 2 warnings", "")


@pytest.mark.parametrize("form", ["text", "github"])
def test_control_characters_are_shown_and_not_obeyed(drayman: CommandLine, form: str) -> None:
    drayman.write("pod.yaml", IDLE.replace("name: gpu", 'name: "\\e[2Jgpu"').replace("idle", '"\u202e\\e]0;x\\a"'))
    result = drayman.run("lint", "pod.yaml", "-o", form)
    assert not any(ord(letter) < 32 and letter != "\n" for letter in result.out)
    assert "\u202e" not in result.out
    assert "no container uses claim `\N{SYMBOL FOR ESCAPE}[2Jgpu`" in result.out


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "metadata:\n  name: {{ .Release.Name }}\n",
            "that is a template: render it first, as in `helm template . | drayman lint -`",
        ),
        ("spec:\n\t- a\n", "YAML takes no tabulators at the beginning of a line: write blanks"),
        (
            '{expression: device.attributes["a"].b}\n',
            "put the expression in quotes, or in lines of its own below `expression: |-`",
        ),
        ("a: [\n", None),
    ],
)
def test_what_is_not_yaml_has_a_hint_where_the_reason_is_common(
    drayman: CommandLine, text: str, hint: str | None
) -> None:
    drayman.write("broken.yaml", text)
    [found] = json.loads(drayman.run("lint", "broken.yaml", "-o", "json").out)["diagnostics"]
    assert (found["rule"], found.get("hint")) == ("syntax", hint)


def test_an_object_without_a_kind_is_told_by_the_field(drayman: CommandLine) -> None:
    drayman.write("values.yaml", "apiVersion: v1\nreplicas: 1\n")
    drayman.write("empty.yaml", "apiVersion: v1\nkind: List\nitems:\n")
    [found] = json.loads(drayman.run("lint", "values.yaml", "empty.yaml", "-o", "json").out)["diagnostics"]
    assert (found["rule"], found["file"], found["message"]) == ("unknown-kind", "values.yaml", "`kind` is not set")


def test_standard_input_is_linted(drayman: CommandLine) -> None:
    result = drayman.run("lint", "-", stdin=CLAIM.encode())
    assert result.code == 1
    assert "--> <stdin>:8:7\n" in result.out
    assert result.out.endswith("found 2 errors; --fix can put 2 right\n")


def test_a_rule_is_explained_with_examples(drayman: CommandLine) -> None:
    result = drayman.run("lint", "--explain", "pod-claim-not-consumed")
    assert result.code == 0
    assert result.out.startswith("pod-claim-not-consumed (warning): a claim of the pod is used by no container\n")
    assert "\nbad:\n\n  apiVersion: v1\n" in result.out
    assert "\ngood:\n\n  apiVersion: v1\n" in result.out


def test_an_unknown_rule_is_an_error_with_the_one_that_is_meant(drayman: CommandLine) -> None:
    result = drayman.run("lint", "--explain", "pod-claim-not-consumd")
    assert (result.code, result.err) == (
        1,
        "error: unknown rule `pod-claim-not-consumd`\nhint: did you mean `pod-claim-not-consumed`?\n",
    )


def test_the_beginning_of_rules_is_no_rule_to_explain(drayman: CommandLine) -> None:
    assert drayman.run("lint", "--explain", "pod-").err == (
        "error: unknown rule `pod-`\nhint: so begin `pod-claim-not-consumed`, `pod-nodename-with-claims`\n"
    )


def test_no_file_is_wrong_usage(drayman: CommandLine) -> None:
    assert drayman.run("lint").code == 2


def test_a_snapshot_is_all_that_there_is(drayman: CommandLine) -> None:
    drayman.write("cluster/SNAPSHOT", "{}")
    device_class = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}}
    drayman.write("cluster/deviceclass.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": [device_class]}))
    drayman.write("claim.yaml", FIXED)
    result = drayman.run("lint", "claim.yaml", "--snapshot", "cluster", "-o", "json")
    assert [one["rule"] for one in json.loads(result.out)["diagnostics"]] == ["device-class-missing"]


@pytest.mark.parametrize(
    ("version", "rules"), [("1.35", ["feature-gate-off"]), ("v1.35.2", ["feature-gate-off"]), ("1.36", [])]
)
def test_the_version_says_which_gates_are_on(drayman: CommandLine, version: str, rules: list[str]) -> None:
    tolerant = FIXED + "        tolerations: [{key: a.b/c, operator: Exists, effect: NoExecute}]\n"
    drayman.write("claim.yaml", tolerant)
    result = drayman.run("lint", "claim.yaml", "--kubernetes-version", version, "-o", "json")
    assert [one["rule"] for one in json.loads(result.out)["diagnostics"]] == rules


def test_settings_are_read_from_the_project(drayman: CommandLine) -> None:
    drayman.write(
        "pyproject.toml",
        '[tool.drayman.lint]\nkubernetes-version = "1.36"\nwith = ["gpu.example.com"]\n'
        'ignore = ["pod-claim-not-consumed"]\nignore-in = {"old*" = ["v1beta1"]}\n',
    )
    drayman.write("pod.yaml", IDLE)
    drayman.write("old.yaml", CLAIM)
    drayman.write("claim.yaml", FIXED.replace("gpu.example.com", "gpu.exampel.com"))
    answer = json.loads(drayman.run("lint", "pod.yaml", "old.yaml", "claim.yaml", "-o", "json").out)
    assert answer["kubernetes"] == "1.36"
    assert [(one["rule"], one["file"]) for one in answer["diagnostics"]] == [("device-class-missing", "claim.yaml")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("slect = []", "unknown setting `slect`\nhint: did you mean `select`?"),
        ('select = "x"', "tool.drayman.lint.select: expected a list of rules"),
        ("select = [", "not TOML: "),
    ],
)
def test_settings_that_cannot_be_used_are_errors(drayman: CommandLine, text: str, message: str) -> None:
    drayman.write("pyproject.toml", f"[tool.drayman.lint]\n{text}\n")
    drayman.write("claim.yaml", FIXED)
    result = drayman.run("lint", "claim.yaml")
    assert result.code == 1
    assert message in result.err


def test_nothing_but_the_base_installation_is_imported(drayman: CommandLine) -> None:
    drayman.write("claim.yaml", FIXED)
    result = drayman.run_without("aiohttp kubernetes grpc rich", "lint", "claim.yaml", "--with", "gpu.example.com")
    assert (result.code, result.out, result.err) == (0, "no findings\n", "")


def test_a_live_cluster_is_all_that_there_is(drayman: CommandLine, tmp_path: Path) -> None:
    drayman.write("claim.yaml", FIXED)
    with live_server(tmp_path) as server:
        missing = drayman.run("lint", "claim.yaml", "--kubeconfig", str(server.kubeconfig), "-o", "json")
        server.apply(catalogue.profile("gpu.example.com").device_class())
        there = drayman.run("lint", "claim.yaml", "--kubeconfig", str(server.kubeconfig), "-o", "json")
    rules = [[one["rule"] for one in json.loads(result.out)["diagnostics"]] for result in (missing, there)]
    assert rules == [["device-class-missing"], []]
