from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.cli.manifests import GPU, claim, device_class, files, pod, slice_, template

if TYPE_CHECKING:
    from tests.unit.cli.conftest import CommandLine

WITH = ("--with", GPU)
MISSING_KEY = (
    "no such key: model. consider using CEL optional chaining (.? followed by orValue()) "
    "or guarding the check with has() for optional fields"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1\n", "input.yaml:2: not YAML: did not find expected ',' or ']'"),
        ("", "input.yaml: no objects in the given files"),
        ("hello\n", "input.yaml:1: expected an object with `apiVersion` and `kind`, found `hello`"),
        ("- 1\n", "input.yaml:1: expected an object with `apiVersion` and `kind`, found a list"),
        ("apiVersion: v1\nmetadata: {name: x}\n", "input.yaml:1: x: kind: not set"),
        (
            claim().replace("kind: ResourceClaim", "kind: ResourceClam"),
            'input.yaml:2: ResourceClam team-a/train: kind: no matches for kind "ResourceClam" in version '
            '"resource.k8s.io/v1"\nhint: did you mean `ResourceClaim`?',
        ),
        (
            claim().replace("requests:", "request:"),
            "input.yaml:6: ResourceClaim team-a/train: spec.devices.request: unknown field\n"
            "hint: did you mean `requests`?",
        ),
        (
            claim(more=", count: two"),
            "input.yaml:8: ResourceClaim team-a/train: spec.devices.requests[0].exactly.count: json: cannot unmarshal "
            "string into Go struct field ExactDeviceRequest.spec.devices.requests.exactly.count of type int64",
        ),
        (
            claim().replace("name: train, ", ""),
            "input.yaml:3: ResourceClaim team-a: metadata.name: not set",
        ),
        (
            claim(device_class="gpu.example.org"),
            "input.yaml:8: ResourceClaim team-a/train: spec.devices.requests[0].exactly.deviceClassName: "
            "DeviceClass `gpu.example.org` is not in the given files\nhint: did you mean `gpu.example.com`?",
        ),
        (
            pod("p", "{name: gpu, resourceClaimName: train}"),
            "input.yaml:6: Pod team-a/p: spec.resourceClaims[0].resourceClaimName: "
            "ResourceClaim `team-a/train` is not in the given files",
        ),
        (
            pod("p", "{name: gpu, resourceClaimTemplateName: one-gpu}"),
            "input.yaml:6: Pod team-a/p: spec.resourceClaims[0].resourceClaimTemplateName: "
            "ResourceClaimTemplate `team-a/one-gpu` is not in the given files",
        ),
        (
            pod("p", "{name: gpu}"),
            "input.yaml:6: Pod team-a/p: spec.resourceClaims[0]: "
            "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
        ),
        (
            pod("p", "{name: gpu, resourceClaimName: a, resourceClaimTemplateName: b}"),
            "input.yaml:6: Pod team-a/p: spec.resourceClaims[0]: "
            "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
        ),
        (
            pod("p", "{resourceClaimName: a}"),
            "input.yaml:6: Pod team-a/p: spec.resourceClaims[0].name: not set",
        ),
    ],
)
def test_bad_input_is_named_with_file_object_and_field(drayman: CommandLine, text: str, message: str) -> None:
    drayman.write("input.yaml", text)
    result = drayman.run("allocate", "input.yaml", *WITH)
    assert (result.code, result.out, result.err) == (1, "", f"error: {message}\n")


def test_class_of_a_template_is_named_where_the_template_stands(drayman: CommandLine) -> None:
    drayman.write("template.yaml", template(device_class="nic"))
    drayman.write("pod.yaml", pod("p", "{name: gpu, resourceClaimTemplateName: one-gpu}"))
    result = drayman.run("allocate", "pod.yaml", "template.yaml")
    assert (result.code, result.err) == (
        1,
        "error: template.yaml:9: ResourceClaimTemplate team-a/one-gpu: spec.spec.devices.requests[0].exactly."
        "deviceClassName: DeviceClass `nic` is not in the given files\nhint: give it as a file, or with --with\n",
    )


def test_alternatives_are_checked_too(drayman: CommandLine) -> None:
    text = claim().replace("exactly: {", "firstAvailable: [{name: a, deviceClassName: gpu.example.com}, {name: b, ")
    drayman.write("claim.yaml", text.replace("gpu.example.com}\n", "nic}]\n"))
    result = drayman.run("allocate", "claim.yaml", *WITH)
    assert result.err.startswith(
        "error: claim.yaml:8: ResourceClaim team-a/train: spec.devices.requests[0].firstAvailable[1].deviceClassName: "
    )


def test_selector_that_does_not_compile_is_named_with_its_place(drayman: CommandLine) -> None:
    drayman.write("claim.yaml", claim(more=", selectors: [{cel: {expression: device.drivr == 'x'}}]"))
    result = drayman.run("allocate", "claim.yaml", *WITH)
    place = "spec.devices.requests[0].exactly.selectors[0].cel.expression"
    assert (result.code, result.out, result.err) == (
        1,
        "",
        f"error: claim.yaml:8: ResourceClaim team-a/train: {place}: compilation failed: "
        "ERROR: <input>:1:7: undefined field 'drivr'\n | device.drivr == 'x'\n | ......^\n",
    )


def test_selector_of_a_class_that_does_not_compile_is_named_where_the_class_stands(drayman: CommandLine) -> None:
    drayman.write("class.yaml", device_class().replace("device.driver ==", "device.drivr =="))
    drayman.write("claim.yaml", files(claim(), slice_("worker-1")))
    result = drayman.run("allocate", "claim.yaml", "class.yaml")
    assert (result.code, result.out, result.err) == (
        1,
        "",
        "error: class.yaml:4: DeviceClass gpu.example.com: spec.selectors[0].cel.expression: compilation failed: "
        "ERROR: <input>:1:7: undefined field 'drivr'\n | device.drivr == 'gpu.example.com'\n | ......^\n",
    )


def test_selector_that_fails_on_a_device_is_named_with_its_claim(drayman: CommandLine) -> None:
    expression = "device.attributes['example.com'].model == 'x'"
    drayman.write(
        "claim.yaml",
        files(device_class("other"), claim(more=f', selectors: [{{cel: {{expression: "{expression}"}}}}]')),
    )
    result = drayman.run("allocate", "claim.yaml", *WITH)
    assert (result.code, result.err) == (
        1,
        "error: claim.yaml:6: ResourceClaim team-a/train: claim team-a/train: selector #0 on device "
        f"gpu.example.com/node-1/gpu-0: CEL runtime error: {MISSING_KEY}\n",
    )


def test_slice_that_cannot_be_read_is_named_with_its_place(drayman: CommandLine) -> None:
    bad = slice_("worker-1").replace("{name: gpu-1}", "{name: gpu-1, capacity: {memory: {value: lots}}}")
    drayman.write("all.yaml", files(claim(), device_class(), bad))
    result = drayman.run("allocate", "all.yaml")
    assert result.code == 1
    assert result.err.startswith("error: all.yaml:")


def test_binary_file_is_refused(drayman: CommandLine) -> None:
    (drayman.folder / "input.yaml").write_bytes(b"\x7fELF\n\xff\xfe\x00")
    result = drayman.run("allocate", "input.yaml")
    assert (result.code, result.err) == (1, "error: input.yaml:2: not text in UTF-8\n")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.yaml", "missing.yaml: no such file or directory"),
        ("*.missing", "*.missing: no file matches the pattern"),
        ("empty", "empty: the folder has no .yaml, .yml or .json file"),
    ],
)
def test_files_that_are_not_there_are_named(drayman: CommandLine, name: str, message: str) -> None:
    (drayman.folder / "empty").mkdir()
    result = drayman.run("allocate", name)
    assert (result.code, result.err) == (1, f"error: {message}\n")


def test_unreadable_file_is_refused(drayman: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    drayman.write("claim.yaml", claim())

    def refuse(path: object, *_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.open", refuse)
    result = drayman.run("allocate", "claim.yaml")
    assert (result.code, result.err) == (1, "error: claim.yaml: permission denied\n")


def test_document_of_many_aliases_is_refused(drayman: CommandLine) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 10)]
    drayman.write("bomb.yaml", "\n".join(lines))
    result = drayman.run("allocate", "bomb.yaml")
    assert (result.code, result.err) == (1, "error: bomb.yaml:5: not YAML: document contains excessive aliasing\n")


def test_deeply_nested_document_is_refused(drayman: CommandLine) -> None:
    drayman.write("deep.yaml", "[" * 300)
    result = drayman.run("allocate", "deep.yaml")
    assert (result.code, result.err) == (1, "error: deep.yaml:1: not YAML: nested more than 250 levels deep\n")


@pytest.mark.parametrize("verb", ["allocate", "simulate"])
@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--feature-gates", "Nope=true", "unrecognized feature gate: Nope"),
        ("--feature-gates", "DRAAdminAccess", "missing bool value for DRAAdminAccess"),
        (
            "--feature-gates",
            "DRAAdminAccess=maybe",
            'invalid value of DRAAdminAccess=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax',
        ),
        (
            "--feature-gates",
            "DRAAdminAccess=false",
            "cannot set feature gate DRAAdminAccess to false, feature is locked to true",
        ),
        ("--kubernetes-version", "1.2", "Kubernetes version `1.2` is not known; known are 1.34, 1.35, 1.36, 1.37"),
        ("--with", "gpu.example.org", "gpu.example.org: no such file or directory"),
    ],
)
def test_bad_options_are_refused(drayman: CommandLine, verb: str, option: str, value: str, message: str) -> None:
    drayman.write("claim.yaml", claim())
    result = drayman.run(verb, "claim.yaml", option, value)
    assert (result.code, result.out, result.err) == (1, "", f"error: {message}\n")
