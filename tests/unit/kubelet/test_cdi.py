from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from drayman.testing.kubelet.cdi import CDIError, Registry

if TYPE_CHECKING:
    from pathlib import Path


def spec(*devices: dict[str, Any], edits: dict[str, Any] | None = None, kind: str = "example.com/gpu") -> str:
    return json.dumps({"cdiVersion": "0.6.0", "kind": kind, "devices": devices, "containerEdits": edits or {}})


def device(name: str = "a", **edits: Any) -> dict[str, Any]:
    return {"name": name, "containerEdits": edits or {"env": [f"DEVICE={name}"]}}


def test_edits_of_the_file_come_once_and_before_those_of_its_devices(tmp_path: Path) -> None:
    text = spec(
        device("a"), device("b"), edits={"env": ["COMMON=1", "DEVICE=none"], "mounts": [{"containerPath": "/m"}]}
    )
    (tmp_path / "gpu.json").write_text(text)
    edits = Registry([tmp_path]).inject(["example.com/gpu=a", "example.com/gpu=b"])

    assert edits.env == {"COMMON": "1", "DEVICE": "b"}
    assert edits.mounts == [{"containerPath": "/m"}]


def test_yaml_is_read_and_other_files_are_not(tmp_path: Path) -> None:
    (tmp_path / "gpu.yaml").write_text(
        "cdiVersion: 0.6.0\nkind: example.com/gpu\ndevices: [{name: a, containerEdits: {env: [X=1]}}]\n"
    )
    (tmp_path / "gpu.json.tmp").write_text("{")
    registry = Registry([tmp_path])

    assert registry.inject(["example.com/gpu=a"]).env == {"X": "1"}
    assert registry.errors == {}


def test_device_of_a_later_directory_hides_that_of_an_earlier_one(tmp_path: Path) -> None:
    for name in ("etc", "run"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "gpu.json").write_text(spec(device("a", env=[f"FROM={name}"])))

    registry = Registry([tmp_path / "etc", tmp_path / "run"])
    assert registry.inject(["example.com/gpu=a"]).env == {"FROM": "run"}


def test_device_defined_twice_in_one_directory_is_in_conflict(tmp_path: Path) -> None:
    for name in ("1", "2"):
        (tmp_path / f"{name}.json").write_text(spec(device("a")))
    registry = Registry([tmp_path])

    assert registry.errors == {str(tmp_path / "2.json"): 'conflicting device "example.com/gpu=a"'}
    with pytest.raises(CDIError):
        registry.inject(["example.com/gpu=a"])


def test_unknown_devices_are_named(tmp_path: Path) -> None:
    with pytest.raises(CDIError) as error:
        Registry([tmp_path, tmp_path / "absent"]).inject(["example.com/gpu=x", "example.com/gpu=y"])
    assert str(error.value) == (
        "CDI device injection failed: unresolvable CDI devices example.com/gpu=x, example.com/gpu=y"
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (spec(device(), kind="gpu"), "invalid CDI Spec: `kind` has to be `vendor/class`"),
        (spec({"name": "a", "containerEdits": {}}), 'invalid device "a", empty device edits'),
        (spec({"containerEdits": {"env": ["A=1"]}}), "invalid CDI Spec: every entry of `devices` needs a name"),
        ("[]", "invalid CDI Spec: `kind` has to be `vendor/class`"),
    ],
)
def test_invalid_file_is_left_out_with_the_reason(tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "gpu.json").write_text(text)
    assert Registry([tmp_path]).errors == {str(tmp_path / "gpu.json"): error}
