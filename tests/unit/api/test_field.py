from __future__ import annotations

import pytest

from drayman.api import field, gotext
from drayman.api.field import FieldError, Path

PATH = Path("spec").child("devices", "requests").index(0).child("name")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (field.required(PATH), "spec.devices.requests[0].name: Required value"),
        (field.required(PATH, "why"), "spec.devices.requests[0].name: Required value: why"),
        (field.invalid(PATH, 'a"b\n', "bad"), r'spec.devices.requests[0].name: Invalid value: "a\"b\n": bad'),
        (field.invalid(PATH, 3, "bad"), "spec.devices.requests[0].name: Invalid value: 3: bad"),
        (field.invalid(PATH, value=False, detail="bad"), "spec.devices.requests[0].name: Invalid value: false: bad"),
        (field.invalid(PATH, None, "bad"), "spec.devices.requests[0].name: Invalid value: null: bad"),
        (
            field.invalid(PATH, {"b": "<", "a": [1]}, "bad"),
            r'spec.devices.requests[0].name: Invalid value: {"b":"\u003c","a":[1]}: bad',
        ),
        (field.duplicate(PATH, "x"), 'spec.devices.requests[0].name: Duplicate value: "x"'),
        (field.not_found(PATH, "x"), 'spec.devices.requests[0].name: Not found: "x"'),
        (field.forbidden(PATH, "no"), "spec.devices.requests[0].name: Forbidden: no"),
        (
            field.not_supported(PATH, "x", ["A", "B"]),
            'spec.devices.requests[0].name: Unsupported value: "x": supported values: "A", "B"',
        ),
        (field.too_long(PATH, 1), "spec.devices.requests[0].name: Too long: may not be more than 1 byte"),
        (field.too_many(PATH, 9, 8), "spec.devices.requests[0].name: Too many: 9: must have at most 8 items"),
    ],
)
def test_error_has_the_text_of_the_api_server(error: FieldError, text: str):
    assert str(error) == text


def test_path_of_a_map_entry_has_its_key_in_brackets():
    assert str(Path("spec").child("attributes").key("a.b/c").child("int")) == "spec.attributes[a.b/c].int"


def test_path_of_nothing_is_printed_as_in_go():
    assert str(Path()) == "<nil>"


def test_several_errors_are_listed_in_brackets_and_repeated_ones_once():
    first, second = field.required(Path("a")), field.required(Path("b"))
    assert field.aggregate([first]) == "a: Required value"
    assert field.aggregate([first, second, first]) == "[a: Required value, b: Required value]"
    assert field.aggregate([]) == ""


@pytest.mark.parametrize(
    ("text", "quoted"),
    [("a", '"a"'), ("\t\\", r'"\t\\"'), ("\x01", r'"\x01"'), ("ü€", '"ü€"'), ("\u200b", r'"\u200b"')],
)
def test_text_is_quoted_as_in_go(text: str, quoted: str):
    assert gotext.quote(text) == quoted
