from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from drayman import manifest
from drayman.errors import InputError
from drayman.manifest import Position

TWO = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: a   # first
---
---
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "n", "name": "b"}}
"""


def objects(text: str) -> list[dict]:
    return [loaded.object for loaded in manifest.parse(text)]


def test_documents_come_in_order_and_empty_ones_not_at_all():
    first, second = manifest.parse(TWO, file="two.yaml")
    assert (first.name, first.index, first.line, first.file) == ("ConfigMap a", 0, 1, "two.yaml")
    assert (second.name, second.index, second.line) == ("ConfigMap n/b", 1, 7)


def test_list_is_taken_apart_and_its_objects_keep_their_places():
    text = "apiVersion: v1\nkind: List\nitems:\n- kind: A\n  x: 1\n- kind: B\n"
    first, second = manifest.parse(text)
    assert [first.object, second.object] == [{"kind": "A", "x": 1}, {"kind": "B"}]
    assert first.position("x") == Position(5, 3, 5, 7)
    assert second.line == 6


def test_items_of_a_typed_list_get_its_type():
    assert objects('{"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {"name": "p"}}]}') == [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    ]


def test_position_of_a_field_is_that_of_its_name():
    text = (
        "spec:\n  devices:\n    requests:\n    - name: a\n      exactly: {count: 1}\n    attributes:\n      a.b/c: 1\n"
    )
    (loaded,) = manifest.parse(text)
    assert loaded.position("spec.devices.requests[0].exactly.count") == Position(5, 17, 5, 25)
    assert loaded.position("spec.devices.attributes[a.b/c]").line == 7
    assert loaded.position("spec.devices.requests[0]").line == 4


def test_position_of_what_is_missing_is_that_of_the_nearest_part():
    (loaded,) = manifest.parse("spec:\n  a:\n  - b: 1\n")
    assert loaded.position("spec.a[0].c.d").line == 3
    assert loaded.position("spec.a[7]").line == 2
    assert loaded.position("metadata.name").line == 1


def test_json_has_positions_too():
    text = '{\n "kind": "A",\n "spec": {\n  "x": 1}}\n{"kind": "B"}\n'
    first, second = manifest.parse(text)
    assert first.position("spec.x").line == 4
    assert second.object == {"kind": "B"}


def test_large_json_is_read_without_looking_for_positions():
    text = json.dumps({"kind": "List", "items": [{"kind": "A", "n": index} for index in range(1000)]})
    assert [loaded.index for loaded in manifest.parse(text)] == list(range(1000))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: b: c", "f.yaml:1: not YAML: mapping values are not allowed in this context"),
        ("a: 1\nb: 1\na: 2\n", "f.yaml:3: not YAML: field `a` is given twice"),
        ('{"a": 1,\n "a": 2}', "f.yaml:2: not YAML: field `a` is given twice"),
        ("- a\n", "f.yaml:1: expected an object with `apiVersion` and `kind`, found a list"),
        ("hello\n", "f.yaml:1: expected an object with `apiVersion` and `kind`, found `hello`"),
        ("a: &x [*x]", "f.yaml:1: not YAML: anchor `x` contains itself"),
        ("a: *x", "f.yaml:1: not YAML: unknown anchor `x`"),
        ("a: !python/object:os.system x", "f.yaml:1: not YAML: tag `!python/object:os.system` is not supported"),
        ("a: .inf", "f.yaml:1: not YAML: `.inf` is not a number that JSON has"),
        ("[a]: b", "f.yaml:1: not YAML: the name of a field must be text"),
        ("a: 1\nb: \ud800\n", "f.yaml:2: not YAML: text that is no Unicode: half a surrogate pair"),
        ("a: " + "[" * 300, "f.yaml:1: not YAML: nested more than 250 levels deep"),
    ],
)
def test_what_is_not_an_object_is_refused_with_its_line(text: str, message: str):
    with pytest.raises(InputError) as refused:
        manifest.parse(text, file="f.yaml")
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (r'{"a": "\ud800"}', "f.yaml:1: not YAML: found invalid Unicode character escape code"),
        ('{"a": %s}' % ("9" * 5000), f"f.yaml:1: not YAML: `{'9' * 60}…` is not a number that JSON has"),
    ],
)
def test_json_that_no_object_can_hold_is_refused(text: str, message: str):
    with pytest.raises(InputError) as refused:
        manifest.parse(text, file="f.yaml")
    assert str(refused.value) == message


def test_whole_surrogate_pair_is_a_character():
    assert objects(r'{"a": "\ud83d\ude00"}') == [{"a": "\U0001f600"}]


def test_message_shows_only_the_beginning_of_a_long_text():
    with pytest.raises(InputError) as refused:
        manifest.parse("x" * 1000)
    assert str(refused.value) == f"expected an object with `apiVersion` and `kind`, found `{'x' * 60}…`"


def test_aliases_are_copies_and_merges_give_way_to_own_fields():
    (made,) = objects("a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\ne: *x\n")
    assert made == {"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}, "e": {"b": 1, "c": 2}}
    assert made["a"] is not made["e"]


def test_aliases_do_not_multiply_without_end():
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 9))
    with pytest.raises(InputError) as refused:
        manifest.parse("l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n" + levels)
    assert refused.value.message == "not YAML: document contains excessive aliasing"


def test_aliases_do_not_nest_without_end():
    levels = "".join(f"l{n}: &l{n} [[[[[[[[[[*l{n - 1}]]]]]]]]]]\n" for n in range(1, 40))
    with pytest.raises(InputError) as refused:
        manifest.parse("l0: &l0 x\n" + levels)
    assert refused.value.message == "not YAML: nested more than 250 levels deep"


def test_folder_pattern_and_standard_input_are_files_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("b.yaml", "a.yml", "c.json", "notes.txt"):
        (tmp_path / name).write_text(f'{{"kind": "{name}"}}')
    stdin = io.TextIOWrapper(io.BytesIO(b"kind: stdin"))
    monkeypatch.setattr("sys.stdin", stdin)

    def kinds(*paths: str | Path) -> list[str]:
        return [loaded.object["kind"] for loaded in manifest.load(paths)]

    assert kinds(tmp_path) == ["a.yml", "b.yaml", "c.json"]
    assert kinds(f"{tmp_path}/*.y*ml") == ["a.yml", "b.yaml"]
    assert kinds("-", tmp_path / "c.json") == ["stdin", "c.json"]


def test_file_that_cannot_be_read_is_named(tmp_path: Path):
    (tmp_path / "latin.yaml").write_bytes(b"a: 1\nb: \xe9\n")
    missing, latin, empty = tmp_path / "no.yaml", tmp_path / "latin.yaml", tmp_path / "empty"
    empty.mkdir()
    pattern = f"{tmp_path}/*.json"
    expected = {
        missing: f"{missing}: no such file or directory",
        latin: f"{latin}:2: not text in UTF-8",
        empty: f"{empty}: the folder has no .yaml, .yml or .json file",
        pattern: f"{pattern}: no file matches the pattern",
    }
    for path, message in expected.items():
        with pytest.raises(InputError) as refused:
            manifest.load([path])
        assert str(refused.value) == message


def test_byte_order_mark_is_no_part_of_the_text(tmp_path: Path):
    (tmp_path / "bom.yaml").write_bytes(b"\xef\xbb\xbfkind: A")
    assert manifest.load([tmp_path])[0].object == {"kind": "A"}
