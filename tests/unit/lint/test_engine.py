"""What comes out of files: places, order, what is left out, and what is asked of the options."""

from __future__ import annotations

import pytest

from drayman.errors import InputError
from drayman.lint import Diagnostic, Options, lint

CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: train, namespace: team-a}
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: gpu.example.com
        count: -1
"""


def places(found: list[Diagnostic]) -> list[tuple[str, int, int, int]]:
    return [(one.rule, one.position.line, one.position.column, one.position.end_column) for one in found]


def test_a_finding_points_at_the_value() -> None:
    [one] = lint([("claim.yaml", CLAIM)])
    assert (one.object, one.path, one.file) == (
        "ResourceClaim team-a/train",
        "spec.devices.requests[0].exactly.count",
        "claim.yaml",
    )
    assert one.message == "spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero"
    assert places([one]) == [("api-validation", 10, 16, 18)]


def test_a_finding_about_a_name_points_at_the_name() -> None:
    [one] = lint([("claim.yaml", CLAIM.replace("count: -1", "cuont: 1"))])
    assert places([one]) == [("unknown-field", 10, 9, 14)]
    assert one.hint == "did you mean `count`?"


@pytest.mark.parametrize(
    "written",
    [
        "device.driver == 'x' && nonsense",
        "\"device.driver == 'x' && nonsense\"",
        "'device.driver == ''x'' && nonsense'",
        "|\n{indent}device.driver == 'x' &&\n{indent}  nonsense",
        ">-\n{indent}device.driver == 'x'\n{indent}&& nonsense",
    ],
)
def test_a_finding_in_an_expression_points_into_the_expression(written: str) -> None:
    selectors = f"selectors:\n        - cel:\n            expression: {written.format(indent=' ' * 14)}"
    text = CLAIM.replace("count: -1", selectors)
    [one] = lint([("claim.yaml", text)])
    assert text.splitlines()[one.position.line - 1][one.position.column - 1 :].startswith("nonsense")


def test_an_older_version_has_its_own_paths() -> None:
    text = CLAIM.replace("resource.k8s.io/v1", "resource.k8s.io/v1beta1").replace("      exactly:\n", "")
    text = text.replace("        deviceClassName", "      deviceClassName").replace("        count", "      count")
    [one] = lint([("claim.yaml", text)])
    assert one.path == "spec.devices.requests[0].count"
    assert places([one]) == [("api-validation", 9, 14, 16)]


def test_a_file_that_is_not_yaml_does_not_hide_the_others() -> None:
    found = lint([("broken.yaml", "a: [1,\n"), ("claim.yaml", CLAIM)])
    assert [(one.rule, one.file) for one in found] == [("syntax", "broken.yaml"), ("api-validation", "claim.yaml")]


@pytest.mark.parametrize(
    "text",
    [
        CLAIM.replace("count: -1", "count: -1  # drayman: ignore[api-validation]"),
        CLAIM.replace("count: -1", "# drayman: ignore[unknown-field, api-validation]\n        count: -1"),
    ],
)
def test_a_comment_switches_a_rule_off_for_its_line(text: str) -> None:
    assert lint([("claim.yaml", text)]) == []


def test_a_comment_on_another_line_or_for_another_rule_switches_nothing_off() -> None:
    elsewhere = CLAIM.replace("  devices:", "  devices:  # drayman: ignore[api-validation]")
    other = CLAIM.replace("count: -1", "count: -1  # drayman: ignore[unknown-field]")
    before = CLAIM.replace(
        "deviceClassName: gpu.example.com", "deviceClassName: gpu.example.com  # drayman: ignore[api-validation]"
    )
    assert [len(lint([("claim.yaml", text)])) for text in (elsewhere, other, before)] == [1, 1, 1]


def test_rules_are_chosen_by_name_and_by_how_their_names_begin() -> None:
    texts = [("claim.yaml", CLAIM)]
    assert len(lint(texts, Options(select=["api"]))) == 1
    assert lint(texts, Options(select=["unknown-field"])) == []
    assert lint(texts, Options(ignore=["api-validation"])) == []


def test_a_rule_that_does_not_exist_is_refused_with_the_one_that_is_meant() -> None:
    with pytest.raises(InputError) as raised:
        lint([], Options(select=["unknown-feild"]))
    assert (str(raised.value), raised.value.hint) == ("unknown rule `unknown-feild`", "did you mean `unknown-field`?")


def test_objects_beside_the_files_are_not_linted() -> None:
    from drayman import manifest

    assert lint([], Options(context=manifest.parse(CLAIM))) == []


def test_pod_templates_are_found_wherever_a_custom_kind_has_them() -> None:
    text = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train}
spec:
  replicatedJobs:
  - name: workers
    template:
      spec:
        template:
          spec:
            containers: [{name: main, image: "registry.example.com/train:1"}]
            resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]
"""
    [one] = lint([("jobset.yaml", text)])
    assert (one.rule, one.path) == (
        "pod-claim-not-consumed",
        "spec.replicatedJobs[0].template.spec.template.spec.resourceClaims[0]",
    )


def test_objects_of_the_files_stand_for_those_of_the_same_name_beside_them() -> None:
    from drayman import manifest

    device_class = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\n"
    pair = [f"{device_class}spec: {{extendedResourceName: a.b/{name}}}\n" for name in ("gpu", "gpu")]
    assert lint([("class.yaml", pair[0])], Options(context=manifest.parse(pair[1]))) == []


def test_the_same_device_in_two_places_of_one_slice_is_told_as_the_server_does() -> None:
    text = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: w}
spec:
  driver: gpu.example.com
  nodeName: w
  pool: {name: w, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}, {name: gpu-0}]
"""
    [one] = lint([("slice.yaml", text)])
    assert (one.rule, one.message) == ("duplicate-device-name", 'spec.devices[1]: Duplicate value: "gpu-0"')


@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [
        (
            "exactly:",
            "exactly:\n        tolerations: [{operator: Exists, effect: NoSchedul}]",
            "did you mean `NoSchedule`?",
        ),
        (
            "  devices:",
            "  resourceClassName: gpu\n  devices:",
            "classic DRA is gone: name a DeviceClass, in `deviceClassName` of a request",
        ),
        (
            "  devices:",
            "  tolerations: []\n  devices:",
            "`tolerations` belongs to `spec.devices.requests[].exactly.tolerations` or "
            "`spec.devices.requests[].firstAvailable[].tolerations`",
        ),
        (
            "    requests:",
            "    constraints: [{matchAttribute: a.b/c, requests: [gpus]}]\n    requests:",
            "did you mean `gpu`?",
        ),
        (": -1", ': "1"', "write `1`, without quotes"),
        (": -1", ": many", None),
        ("gpu.example.com", "7", "write it in quotes"),
        ("count: -1", "capacity: {requests: {memory: 6 GiB}}", "write `6Gi`"),
    ],
)
def test_hints_say_what_to_write(before: str, after: str, hint: str | None) -> None:
    text = CLAIM.replace(before, after, 1)
    if "-1" not in before:
        text = text.replace("        count: -1\n", "")
    [one] = lint([("claim.yaml", text)])
    assert one.hint == hint


def test_the_layout_of_v1_under_v1beta1_is_named() -> None:
    [one] = lint([("claim.yaml", CLAIM.replace("/v1\n", "/v1beta1\n"))])
    assert (one.rule, one.path) == ("unknown-field", "spec.devices.requests[0].exactly")
    assert one.hint == "that is the layout of newer versions: write `apiVersion: resource.k8s.io/v1`"


def test_the_devices_of_v1beta1_have_their_own_paths() -> None:
    text = """\
apiVersion: resource.k8s.io/v1beta1
kind: ResourceSlice
metadata: {name: w}
spec:
  driver: gpu.example.com
  nodeName: w
  pool: {name: w, generation: 1, resourceSliceCount: 1}
  devices:
  - name: gpu-0
    basic:
      attributes:
        driverVersion: {version: 1.02.3}
"""
    [one] = lint([("slice.yaml", text)])
    assert (one.rule, one.path) == ("version-not-semver", "spec.devices[0].basic.attributes.driverVersion.version")
    assert (one.position.line, one.position.column) == (12, 34)
