from __future__ import annotations

import pytest

from drayman import manifest
from drayman.errors import InputError

CLAIM = """\
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata:
  namespace: team-a
  name: c
spec:
  devices:
    requests:
    - name: gpu
      deviceClassName: gpu.example.com
"""


def check(text: str) -> manifest.Manifest:
    (loaded,) = manifest.parse(text, file="f.yaml")
    return manifest.check(loaded)


def test_older_versions_become_v1():
    checked = check(CLAIM)
    assert checked.object["apiVersion"] == "resource.k8s.io/v1"
    assert checked.object["spec"]["devices"]["requests"] == [
        {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}
    ]
    assert checked.line == 1


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("kind: Pod", "f.yaml:1: Pod: apiVersion: not set", None),
        ("apiVersion: v1\nmetadata: {name: a}", "f.yaml:1: a: kind: not set", None),
        ("apiVersion: 1\nkind: Pod", "f.yaml:1: Pod: apiVersion: not text", None),
        (
            CLAIM.replace("kind: ResourceClaim", "kind: ResourceClam"),
            'f.yaml:2: ResourceClam team-a/c: kind: no matches for kind "ResourceClam" in version '
            '"resource.k8s.io/v1beta1"',
            "did you mean `ResourceClaim`?",
        ),
        (
            CLAIM.replace("kind: ResourceClaim", "kind: DeviceTaintRule"),
            'f.yaml:2: DeviceTaintRule team-a/c: kind: no matches for kind "DeviceTaintRule" in version '
            '"resource.k8s.io/v1beta1"',
            "it is in `resource.k8s.io/v1`, `resource.k8s.io/v1alpha3`, `resource.k8s.io/v1beta2`",
        ),
        (
            CLAIM.replace("resource.k8s.io", "resources.k8s.io"),
            "f.yaml:1: ResourceClaim team-a/c: apiVersion: unknown API group `resources.k8s.io`",
            "did you mean `resource.k8s.io`?",
        ),
        (
            CLAIM.replace("v1beta1", "v2"),
            "f.yaml:1: ResourceClaim team-a/c: apiVersion: unknown version `resource.k8s.io/v2`",
            "there are `resource.k8s.io/v1`, `resource.k8s.io/v1alpha3`, `resource.k8s.io/v1beta1`, "
            "`resource.k8s.io/v1beta2`",
        ),
        (
            CLAIM.replace("v1beta1", "v1"),
            "f.yaml:10: ResourceClaim team-a/c: spec.devices.requests[0].deviceClassName: unknown field",
            "`deviceClassName` is a field of `exactly` and of `firstAvailable`",
        ),
        (
            CLAIM.replace("requests", "request"),
            "f.yaml:8: ResourceClaim team-a/c: spec.devices.request: unknown field",
            "did you mean `requests`?",
        ),
        (
            CLAIM.replace("name: gpu", "name: 1"),
            "f.yaml:9: ResourceClaim team-a/c: spec.devices.requests[0].name: json: cannot unmarshal number into Go "
            "struct field DeviceRequest.spec.devices.requests.name of type string",
            "put it in quotes: without them it is a number",
        ),
    ],
)
def test_manifest_that_no_server_would_decode_is_refused(text: str, message: str, hint: str | None):
    with pytest.raises(InputError) as refused:
        check(text)
    assert (str(refused.value), refused.value.hint) == (message, hint)


@pytest.mark.parametrize(
    "group", ["example.com", "jobset.x-k8s.io", "scheduling.x-k8s.io", "gateway.networking.k8s.io", "metrics.k8s.io"]
)
def test_kinds_of_other_groups_pass(group: str):
    assert check(f"apiVersion: {group}/v1\nkind: Thing\nspec: 1").object["spec"] == 1


@pytest.mark.parametrize(("name", "kind"), [("n", "a truth value"), ("1.5", "a number"), ("7", "a number")])
def test_text_that_yaml_reads_as_something_else_should_be_in_quotes(name: str, kind: str) -> None:
    with pytest.raises(InputError) as caught:
        check(CLAIM.replace("name: gpu", f"name: {name}"))
    assert caught.value.hint == f"put it in quotes: without them it is {kind}"


def test_text_that_is_an_object_gets_no_hint_of_quotes() -> None:
    with pytest.raises(InputError) as caught:
        check(CLAIM.replace("name: gpu", "name: {}"))
    assert caught.value.hint is None
