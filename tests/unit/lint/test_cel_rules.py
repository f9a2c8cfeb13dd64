"""What lint finds in CEL selectors: the rule, the piece of the expression, and what to write instead."""

from __future__ import annotations

import textwrap
from typing import TypeAlias

import pytest

from drayman.lint import Diagnostic, Severity, fix, lint
from drayman.lint import drivers as catalogue

Row: TypeAlias = tuple[str, str, str | None]

DEVICES = """---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: worker-1}
spec:
  driver: gpu.example.com
  nodeName: worker-1
  pool: {name: worker-1, generation: 1, resourceSliceCount: 1}
  devices:
  - name: gpu-0
    attributes:
      model: {string: A100}
      cores: {int: 4}
      ecc: {bool: true}
      cc: {version: 8.0.0}
      firmware: {string: 1.10.0}
      sharing: {string: mps}
      resource.kubernetes.io/pcieRoot: {string: "pci0000:00"}
    capacity: {memory: {value: 40Gi}}
  - name: gpu-1
    attributes:
      model: {string: T4}
      cores: {int: 2}
      ecc: {bool: false}
      cc: {version: 7.5.0}
      firmware: {string: 1.9.0}
      resource.kubernetes.io/pcieRoot: {string: "pci0000:00"}
    capacity: {memory: {value: 16Gi}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.example.com'"}}]}
"""


def claim(expression: str, device_class: str = "gpu") -> str:
    """Return a claim with one selector in a block."""
    block = textwrap.indent(expression, " " * 14)
    return f"""
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{name: train}}
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: {device_class}
        selectors:
        - cel:
            expression: |-
{block}
"""


def rows(text: str, found: list[Diagnostic]) -> list[Row]:
    """Return of each finding the rule, what is marked, and the hint."""
    lines = text.splitlines()
    marked = [lines[one.position.line - 1][one.position.column - 1 : one.position.end_column - 1] for one in found]
    return [(one.rule, piece, one.hint) for one, piece in zip(found, marked, strict=True)]


def written(expression: str) -> str:
    """Return an expression with `A.` for the attributes and `C.` for the capacities of the driver."""
    places = {"A.": "device.attributes['gpu.example.com'].", "C.": "device.capacity['gpu.example.com']."}
    for short, long in places.items():
        expression = expression.replace(short, long)
    return expression


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (
            "A.sharing == 'mps'",
            (
                "cel-unguarded-attribute",
                "A.sharing",
                'write `has(device.attributes["gpu.example.com"].sharing) && …` or '
                '`device.attributes["gpu.example.com"].?sharing.orValue(…)`',
            ),
        ),
        (
            "A.?sharing.value() == 'mps'",
            (
                "cel-unguarded-attribute",
                "device.attributes['gpu.example.com'].?sharing",
                'write `has(device.attributes["gpu.example.com"].sharing) && …` or '
                '`device.attributes["gpu.example.com"].?sharing.orValue(…)`',
            ),
        ),
        ("C.memory.compareTo('16Gi') >= 0", ("cel-type-mismatch", "'16Gi'", 'write `quantity("16Gi")`')),
        ("A.cc.isLessThan('9.0')", ("cel-type-mismatch", "'9.0'", 'write `semver("9.0.0")`')),
        ("A.modle == 'A100'", ("cel-unknown-attribute", "A.modle", "did you mean `model`?")),
        ("has(A.modle)", ("cel-unknown-attribute", "A.modle", "did you mean `model`?")),
        (
            "A.memory.isGreaterThan(quantity('1Gi'))",
            ("cel-unknown-attribute", "A.memory", 'did you mean `device.capacity["gpu.example.com"].memory`?'),
        ),
        (
            "A.pcieRoot == 'pci0000:00'",
            (
                "cel-unknown-attribute",
                "A.pcieRoot",
                'did you mean `device.attributes["resource.kubernetes.io"].pcieRoot`?',
            ),
        ),
        (
            "device.attributes['gpu.exampel.com'].model == 'A100'",
            ("cel-unknown-domain", "'gpu.exampel.com'", "did you mean `gpu.example.com`?"),
        ),
        (
            "device.attributes['nic.example.org'].model == 'A100'",
            ("cel-unknown-domain", "'nic.example.org'", "domains: `gpu.example.com`, `resource.kubernetes.io`"),
        ),
        (
            "device.attributes['model'] == 'A100'",
            ("cel-missing-domain", "device.attributes['model']", 'write `device.attributes["gpu.example.com"].model`'),
        ),
        (
            "device.attributes.model == 'A100'",
            ("cel-missing-domain", "device.attributes.model", 'write `device.attributes["gpu.example.com"].model`'),
        ),
        (
            "device.attributes['memory'].value > 1",
            (
                "cel-missing-domain",
                "device.attributes['memory'].value",
                'write `device.capacity["gpu.example.com"].memory`: `memory` is a capacity',
            ),
        ),
        (
            "device.attributes['gpu.example.com/model'] == 'A100'",
            (
                "cel-missing-domain",
                "device.attributes['gpu.example.com/model']",
                'write `device.attributes["gpu.example.com"].model`',
            ),
        ),
        ("A.model.string == 'A100'", ("cel-value-suffix", ".string", "write `A.model`")),
        ("A.model.string() == 'A100'", ("cel-value-suffix", ".string()", "write `A.model`")),
        ("A.model.vendor == 'A100'", ("cel-value-suffix", ".vendor", None)),
        (
            "C.memory >= quantity('16Gi')",
            ("cel-compared-by-operator", ">=", "write `C.memory.compareTo(quantity('16Gi')) >= 0`"),
        ),
        (
            "'16Gi' < C.memory",
            ("cel-compared-by-operator", "<", 'write `C.memory.compareTo(quantity("16Gi")) > 0`'),
        ),
        ("A.cc >= '8.0.0'", ("cel-compared-by-operator", ">=", 'write `A.cc.compareTo(semver("8.0.0")) >= 0`')),
        ("A.cc > '8.0'", ("cel-compared-by-operator", ">", 'write `A.cc.compareTo(semver("8.0.0")) > 0`')),
        (
            "semver('8.0.0') <= A.cc",
            ("cel-compared-by-operator", "<=", "write `A.cc.compareTo(semver('8.0.0')) >= 0`"),
        ),
        (
            "A.firmware >= '1.9.0'",
            (
                "cel-version-compared-as-string",
                ">=",
                'publish it as a version and write `A.firmware.compareTo(semver("1.9.0")) >= 0`',
            ),
        ),
        (
            "C.memory == quantity('40G')",
            (
                "cel-capacity-equality",
                "C.memory == quantity('40G')",
                "there are `16Gi`, `40Gi`: write `C.memory.compareTo(…) >= 0`",
            ),
        ),
        (
            "C.memory == '40Gi'",
            (
                "cel-capacity-equality",
                "C.memory == '40Gi'",
                'write `C.memory.compareTo(quantity("40Gi")) >= 0` for at least so much',
            ),
        ),
        (
            "C.memory in ['40Gi', '80Gi']",
            (
                "cel-capacity-equality",
                "C.memory in ['40Gi', '80Gi']",
                'write `C.memory.compareTo(quantity("40Gi")) >= 0` for at least so much',
            ),
        ),
        (
            "C.model == 'A100'",
            ("cel-unknown-attribute", "C.model", 'did you mean `device.attributes["gpu.example.com"].model`?'),
        ),
        (
            "C.memory >= C.memory",
            ("cel-compared-by-operator", ">=", "write `C.memory.compareTo(C.memory) >= 0`"),
        ),
        (
            "A.cc.startsWith('8.')",
            (
                "cel-type-mismatch",
                "startsWith",
                'compare it with `isLessThan(semver("…"))` or `isGreaterThan`, or its number `major()`',
            ),
        ),
        (
            "device.attributes['example.com/gpu'].model == 'A100'",
            ("cel-unknown-domain", "'example.com/gpu'", "did you mean `gpu.example.com`?"),
        ),
        (
            "device.attributes['k8s.io'].pcieRoot == 'pci0000:00'",
            ("cel-unknown-domain", "'k8s.io'", "did you mean `resource.kubernetes.io`?"),
        ),
        ("A.cores > '2'", ("cel-type-mismatch", "'2'", "write `2`")),
        ("A.cores == '4'", ("cel-type-mismatch", "'4'", "write `4`")),
        ("A.ecc == 'true'", ("cel-type-mismatch", "'true'", "write `true`")),
        ("A.model in [100, 'T4']", ("cel-type-mismatch", "[100, 'T4']", 'write `"100", "T4"`')),
        ("A.cc == '8.0.0'", ("cel-type-mismatch", "'8.0.0'", 'write `semver("8.0.0")`')),
        ("A.cc.isGreaterThan(quantity('8'))", ("cel-type-mismatch", "quantity('8')", "write `semver(…)`")),
        (
            "device.driver == 'example.com/gpu'",
            ("cel-driver-name-invalid", "'example.com/gpu'", "did you mean `gpu.example.com`?"),
        ),
        (
            "device.driver in ['GPU.example.com']",
            ("cel-driver-name-invalid", "['GPU.example.com']", "did you mean `gpu.example.com`?"),
        ),
        ("A.model == 'T4' # cheap", ("cel-comment", "#", "write `//`")),
        ("A.model = 'T4'", ("cel-foreign-syntax", "=", "write `==`")),
        ("A.ecc and A.cores > 1", ("cel-foreign-syntax", "and", "write `&&`")),
        (
            "A.cc.isGreaterThan(semver('7.05.0'))",
            ("cel-invalid-literal", "semver('7.05.0')", "write `semver('7.5.0')`"),
        ),
        (
            "C.memory.isLessThan(quantity('41GB'))",
            ("cel-invalid-literal", "quantity('41GB')", "write `quantity('41G')`"),
        ),
        ("A.cores", ("cel-result-not-bool", "A.cores", "compare it with a value")),
        ("A.ecc || 2 > 1", ("cel-always-same", "2 > 1", None)),
        (
            "A.model == 'T4' && A.model == 'A100'",
            (
                "cel-contradiction",
                "A.model == 'A100'",
                'for either: `device.attributes["gpu.example.com"].model in ["T4", "A100"]`',
            ),
        ),
        ("A.cores > 3 && A.cores < 3", ("cel-contradiction", "A.cores < 3", None)),
        ("device.driver == 'nic.example.com'", ("cel-contradiction", "device.driver == 'nic.example.com'", None)),
        ("A.model == 'H100' && A.ecc", ("cel-matches-no-device", "A.model == 'H100'", "`model` is `A100`, `T4`")),
        ("A.model[0] == 'T'", ("cel-evaluation-fails", "A.model[0] == 'T'", None)),
    ],
)
def test_what_is_wrong_is_found_beside_devices(expression: str, expected: Row) -> None:
    rule, piece, hint = expected
    text = claim(written(expression)) + DEVICES
    found = [row for row in rows(text, lint([("claim.yaml", text)])) if row[0].startswith("cel-")]
    assert (rule, written(piece), written(hint) if hint else None) in found
    assert {row[0] for row in found} <= {rule, "cel-matches-no-device"}


@pytest.mark.parametrize(
    "expression",
    [
        "true",
        "A.model == 'A100' || A.model == 'T4'",
        "has(A.sharing) && A.sharing == 'mps'",
        "A.?sharing.orValue('') == 'mps'",
        "'sharing' in device.attributes['gpu.example.com'] && A.sharing == 'mps'",
        "A.model == 'A100' && A.sharing == 'mps'",
        "C.memory.compareTo(quantity('16Gi')) >= 0",
        "C.memory == quantity('16384Mi')",
        "A.cc.isGreaterThan(semver('7.0.0')) && A.cc.isLessThan(semver('9.0.0'))",
        "semver(A.firmware).isGreaterThan(semver('1.9.0'))",
        "semver('1.2', true).isLessThan(A.cc)",
        "A.cores > 1 && A.cores <= 2 && A.cores in [1, 2]",
        "A.cores == 4.0",
        "A.model.lowerAscii().matches('^t')",
        "A.ecc",
        "!A.ecc",
        "device.attributes['resource.kubernetes.io'].pcieRoot.startsWith('pci')",
        "device.attributes['gpu.example.com'].size() > 3",
        "'gpu.example.com' in device.attributes",
        "cel.bind(all, device.attributes['gpu.example.com'], all.model == 'T4')",
        "device.driver == 'nic.example.com' ? device.attributes['nic.example.com'].x == 1 : A.ecc",
        "A.model != '# =' // a comment and more",
    ],
)
def test_what_is_right_is_clean(expression: str) -> None:
    text = claim(written(expression)) + DEVICES
    assert [row for row in rows(text, lint([("claim.yaml", text)])) if row[0].startswith("cel-")] == []


NVIDIA = "device.attributes['gpu.nvidia.com']."


@pytest.mark.parametrize(
    ("device_class", "expression", "rules"),
    [
        ("gpu.nvidia.com", f"{NVIDIA}productName.matches('A100')", []),
        ("mig.nvidia.com", f"{NVIDIA}profile == '1g.5gb'", []),
        ("gpu.nvidia.com", f"{NVIDIA}profile == '1g.5gb'", ["cel-unknown-attribute"]),
        ("other", f"{NVIDIA}profile == '1g.5gb'", []),
        ("gpu.nvidia.com", f"{NVIDIA}index == 0", ["cel-unknown-attribute"]),
        ("gpu.nvidia.com", f"{NVIDIA}prodctName == 'A100'", ["cel-unknown-attribute"]),
        ("gpu.nvidia.com", f"{NVIDIA}addressingMode == 'ATS'", ["cel-unguarded-attribute"]),
        ("gpu.nvidia.com", f"{NVIDIA}?addressingMode.orValue('') == 'ATS'", []),
        ("other", f"{NVIDIA}addressingMode == 'ATS'", []),
        ("gpu.nvidia.com", f"{NVIDIA}driverVersion == '550.54.15'", ["cel-type-mismatch"]),
        ("other", f"{NVIDIA}driverVersion >= '550.54.15'", ["cel-compared-by-operator"]),
        ("gpu.nvidia.com", f"{NVIDIA}productName", ["cel-result-not-bool"]),
        ("other", "device.attributes['gpu.nvidia.con'].type == 'gpu'", ["cel-unknown-domain"]),
        ("other", "device.attributes['gpu.acme.example'].type == 'gpu'", []),
        ("gpu.nvidia.com", "device.attributes['dra.net'].rdma", ["cel-unknown-domain"]),
        ("other", "device.attributes['dra.net'].rdma", []),
        ("mig.nvidia.com", "device.attributes['mig.nvidia.com'].profile == '1g.5gb'", ["cel-unknown-domain"]),
        ("gpu.nvidia.com", "device.attributes['nvidia.com'].productName == 'A100'", ["cel-unknown-domain"]),
        ("gpu.nvidia.com", "device.attributes['nvidia.com/gpu'].productName == 'A100'", ["cel-unknown-domain"]),
        ("gpu.nvidia.com", "device.attributes['resource.k8s.io'].numaNode == 0", ["cel-unknown-domain"]),
        ("gpu.example.com", "device.attributes['example.com'].rack == 'r1'", []),
        ("gpu.nvidia.com", "device.attributes['acme.example'].rack == 'r1'", []),
        ("gpu.nvidia.com", "device.driver == 'gpu.amd.com'", ["cel-contradiction"]),
        ("other", "device.attributes['productName'].string == 'A100'", ["cel-missing-domain"]),
        ("other", "device.capacity['gpu.nvidia.com'].memory == quantity('40Gi')", []),
    ],
)
def test_without_devices_the_catalogue_of_drivers_is_asked(
    device_class: str, expression: str, rules: list[str]
) -> None:
    assert [one.rule for one in lint([("claim.yaml", claim(expression, device_class))])] == rules


NO_OVERLOAD = "found no matching overload for"


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("device.attributes['model'] == 'T4'", [f"{NO_OVERLOAD} '_==_' applied to '(map(string, any), string)'"]),
        (
            "device.capacity['memory'].sign()",
            [f"{NO_OVERLOAD} 'sign' applied to 'map(string, kubernetes.Quantity).()'"],
        ),
        (
            "device.attributes['model'].string == 'T4' && C.memory >= quantity('1Gi')",
            [None, f"{NO_OVERLOAD} '_>=_' applied to '(kubernetes.Quantity, kubernetes.Quantity)'"],
        ),
        (
            "A.cc >= '8.0' && A.cc.compareTo('9.0.0') < 0",
            [None, f"{NO_OVERLOAD} 'compareTo' applied to 'any.(string)'"],
        ),
    ],
)
def test_what_the_server_says_stands_where_it_is_about(expression: str, said: list[str | None]) -> None:
    found = lint([("claim.yaml", claim(written(expression)) + DEVICES)])
    assert [one.message.partition("; the API server says: ")[2] or None for one in found] == said
    assert "api-validation" not in [one.rule for one in found]


def test_what_the_server_says_of_another_part_is_a_finding_of_its_own() -> None:
    expression = written("device.attributes['model'].string == 'T4' && nonsense(A.cores)")
    found = lint([("claim.yaml", claim(expression) + DEVICES)])
    assert [one.rule for one in found] == ["cel-missing-domain", "api-validation"]
    assert "undeclared reference to 'nonsense'" in found[1].message


def test_the_catalogue_has_types_that_attributes_can_have() -> None:
    types = {
        entry.type
        for driver in catalogue.known().values()
        for kind in driver.kinds.values()
        for entry in kind.published.values()
    }
    assert types == {"any", "bool", "int", "quantity", "string", "strings", "version"}


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("A.model.string == 'T4'", "A.model == 'T4'"),
        (
            "A.cores > 1 && A.sharing == 'mps' && A.sharing != ''",
            "A.cores > 1 && has(A.sharing) && A.sharing == 'mps' && A.sharing != ''",
        ),
        ("A.sharing in ['mps'] || A.ecc", "A.sharing in ['mps'] || A.ecc"),
        ("A.sharing != 'mps'", "A.sharing != 'mps'"),
        ("C.memory >= quantity('16Gi')", "C.memory.compareTo(quantity('16Gi')) >= 0"),
        ("(C.memory) >= quantity('16Gi')", "(C.memory) >= quantity('16Gi')"),
        ("A.ecc && '8.0.0' <= A.cc", 'A.ecc && A.cc.compareTo(semver("8.0.0")) >= 0'),
        ("A.cores > '1'", "A.cores > 1"),
        ("A.cc.isGreaterThan(semver('7.05.0'))", "A.cc.isGreaterThan(semver('7.5.0'))"),
        ("A.ecc # only these", "A.ecc // only these"),
        ("device.attributes['model'] == 'T4'", "device.attributes[\"gpu.example.com\"].model == 'T4'"),
    ],
)
def test_safe_fixes_are_made_in_blocks(wrong: str, right: str) -> None:
    text = claim(written(wrong)) + DEVICES
    assert fix([("claim.yaml", text)])[0]["claim.yaml"] == claim(written(right)) + DEVICES


def test_fixes_keep_the_quotes_of_the_text_around() -> None:
    wrong = written("A.cc >= '8.0.0'").replace("'", "''")
    text = claim("x").replace("|-\n              x", f"'{wrong}'") + DEVICES
    right = written('A.cc.compareTo(semver("8.0.0")) >= 0').replace("'", "''")
    assert (
        fix([("claim.yaml", text)])[0]["claim.yaml"]
        == claim("x").replace("|-\n              x", f"'{right}'") + DEVICES
    )


def test_a_class_is_tried_on_the_devices_of_all_drivers() -> None:
    text = DEVICES.replace("device.driver == 'gpu.example.com'", written("A.model == 'T4'"))
    nic = DEVICES.split("  - name: gpu-1")[0].replace("gpu.example.com", "nic.example.com").replace("worker-1", "nic-1")
    found = lint([("all.yaml", text + nic)])
    [unguarded] = [one for one in found if one.rule == "cel-unguarded-attribute"]
    assert unguarded.message == (
        "model missing on 1 of 3 devices, such as `nic.example.com/nic-1/gpu-0`; guard with has() or .?"
    )
    assert unguarded.severity is Severity.WARNING
