"""Fixes change what they are about and leave every other character as it is."""

from __future__ import annotations

import json

import pytest

from drayman import manifest
from drayman.lint import Diagnostic, Rule, Severity, all_rules, edits, fix, lint
from drayman.lint.document import Document
from drayman.lint.fixing import apply
from drayman.lint.source import Source

HEAD = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: a}\n"


def fixed(text: str) -> str:
    return fix([("a.yaml", text)])[0]["a.yaml"]


def test_fields_of_v1beta1_move_under_exactly_with_their_comments() -> None:
    before = HEAD + (
        "spec:\n"
        "  devices:\n"
        "    requests:\n"
        "    # the first\n"
        "    - name: gpu   # a name\n"
        "      deviceClassName: gpu.example.com # a class\n"
        "      # many\n"
        "      count: 2\n"
        "      selectors:\n"
        "      - cel:\n"
        "          expression: |\n"
        "            device.driver ==\n"
        "\n"
        "              'gpu.example.com'\n"
        "    # the second\n"
        "    - {name: other, deviceClassName: gpu.example.com, count: 1}\n"
    )
    after = HEAD + (
        "spec:\n"
        "  devices:\n"
        "    requests:\n"
        "    # the first\n"
        "    - name: gpu   # a name\n"
        "      exactly:\n"
        "        deviceClassName: gpu.example.com # a class\n"
        "        # many\n"
        "        count: 2\n"
        "        selectors:\n"
        "        - cel:\n"
        "            expression: |\n"
        "              device.driver ==\n"
        "\n"
        "                'gpu.example.com'\n"
        "    # the second\n"
        "    - {name: other, exactly: {deviceClassName: gpu.example.com, count: 1}}\n"
    )
    assert fixed(before) == after
    assert lint([("a.yaml", after)]) == []


def test_the_first_field_of_an_item_moves_too() -> None:
    requests = HEAD + "spec:\n  devices:\n    requests:\n"
    before = requests + "    - deviceClassName: gpu.example.com\n      name: gpu\n"
    after = requests + "    - exactly:\n        deviceClassName: gpu.example.com\n      name: gpu\n"
    assert fixed(before) == after
    assert lint([("a.yaml", after)]) == []


def test_fields_that_are_apart_are_left_to_the_author() -> None:
    before = HEAD + (
        "spec:\n  devices:\n    requests:\n    - deviceClassName: gpu.example.com\n      name: gpu\n      count: 2\n"
    )
    assert fixed(before) == before
    assert [one.rule for one in lint([("a.yaml", before)])] == ["v1beta1-layout", "v1beta1-layout"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("        allocationMode: All\n        count: 8 # all\n", "        allocationMode: All\n"),
        ("        count: 8\n        allocationMode: All\n", "        allocationMode: All\n"),
        (
            "        allocationMode: All\n        count: 8\n        # why\n        adminAccess: false\n",
            "        allocationMode: All\n        # why\n        adminAccess: false\n",
        ),
    ],
)
def test_a_count_beside_all_is_removed_with_its_line(before: str, after: str) -> None:
    text = HEAD + "spec:\n  devices:\n    requests:\n    - name: gpu\n      exactly:\n        deviceClassName: a.b\n"
    assert fixed(text + before) == text + after


@pytest.mark.parametrize(
    "exactly",
    ["{count: 8, allocationMode: All, deviceClassName: a.b}", "{deviceClassName: a.b, allocationMode: All, count: 8}"],
)
def test_a_count_beside_all_is_removed_from_braces(exactly: str) -> None:
    text = HEAD + f"spec:\n  devices:\n    requests:\n    - name: gpu\n      exactly: {exactly}\n"
    assert fixed(text) == text.replace("count: 8, ", "").replace(", count: 8", "")


def test_a_spec_too_many_is_taken_out() -> None:
    before = HEAD + (
        "spec:\n  spec:\n    devices:\n      requests:\n      - name: gpu\n        exactly: {deviceClassName: a.b}\n"
    )
    after = HEAD + "spec:\n  devices:\n    requests:\n    - name: gpu\n      exactly: {deviceClassName: a.b}\n"
    assert fixed(before) == after


FIXABLE = [
    rule
    for rule in all_rules().values()
    if any(one.fix and one.fix.safe for one in lint([("a.yaml", rule.bad)]) if one.rule == rule.name)
]


@pytest.mark.parametrize("rule", FIXABLE, ids=lambda rule: rule.name)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_fix_of_an_example_leaves_no_such_finding(rule: Rule, ending: str) -> None:
    after = fixed(rule.bad.replace("\n", ending))
    assert rule.name not in {one.rule for one in lint([("a.yaml", after)])}
    assert after.count("\n") == after.count(ending)


def test_rules_with_fixes_are_these() -> None:
    assert {rule.name for rule in FIXABLE} >= {
        "attribute-redundant-domain",
        "claim-name-is-template",
        "count-with-all",
        "template-spec-nesting",
        "v1beta1-layout",
    }


def test_fixes_in_one_place_are_applied_one_after_the_other() -> None:
    text = HEAD.replace("Claim\n", "ClaimTemplate\n") + (
        "spec:\n  devices:\n    requests:\n    - name: gpu\n      deviceClassName: a.b\n      count: 2\n"
    )
    assert fixed(text) == HEAD.replace("Claim\n", "ClaimTemplate\n") + (
        "spec:\n  spec:\n    devices:\n      requests:\n      - name: gpu\n        exactly:\n"
        "          deviceClassName: a.b\n          count: 2\n"
    )


@pytest.mark.parametrize(
    ("style", "text", "after"),
    [
        ("device.driver == 'a'", "'b'", "device.driver == 'b'"),
        ("\"device.driver == 'a'\"", "'b'", "\"device.driver == 'b'\""),
        ("\"device.driver == 'a'\"", '"b"', None),
        ("'device.driver == ''a'''", '"b"', "'device.driver == \"b\"'"),
        ("'device.driver == ''a'''", "'b'", None),
        (">-\n    device.driver ==\n    'a'", "'b'", ">-\n    device.driver ==\n    'b'"),
        ("device.driver == 'a'", "'b' # c", None),
    ],
)
def test_a_part_of_a_text_is_replaced_where_its_style_permits(style: str, text: str, after: str | None) -> None:
    before = f"kind: A\napiVersion: a.b/v1\nspec:\n  cel: {style}\n  other: 1\n"
    [loaded] = manifest.parse(before, file="a.yaml")
    document = Document(loaded, Source("a.yaml", before))
    found = edits.replace_within(document, "spec.cel", 17, 20, text)
    if after is None:
        assert found is None
    else:
        assert found is not None
        diagnostic = Diagnostic("r", Severity.ERROR, "", "", "", None, "a.yaml", found.edits[0].position, found)
        assert apply(before, [diagnostic]) == (before.replace(style, after), 1)


def test_json_stays_json() -> None:
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "a"},
        "spec": {"devices": {"requests": [{"name": "gpu", "deviceClassName": "a.b", "count": 1}]}},
    }
    for indent in (None, 2):
        after = json.loads(fixed(json.dumps(claim, indent=indent)))
        assert after["spec"]["devices"]["requests"] == [
            {"name": "gpu", "exactly": {"deviceClassName": "a.b", "count": 1}}
        ]
