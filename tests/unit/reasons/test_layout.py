from __future__ import annotations

from drayman.reasons.layout import Branch, parse, render


def test_long_text_continues_under_itself() -> None:
    words = "word " * 25
    tree = render(f"title {words}", [Branch(words, [Branch(words)]), Branch(words)])
    assert tree.splitlines() == [
        "title" + " word" * 19,
        " ".join(["word"] * 6),
        "├─" + " word" * 19,
        "│  │ " + " word" * 6,
        "│  └─" + " word" * 19,
        "│    " + " word" * 6,
        "└─" + " word" * 19,
        "  " + " word" * 6,
    ]


def test_tree_that_is_drawn_already_is_hung_in() -> None:
    tree = "no\n├─ a\n│  └─ " + "b " * 60 + "\n└─ c\nno more"
    assert render("title", parse(tree)).splitlines() == [
        "title",
        "├─ no",
        "│  ├─ a",
        "│  │  └─" + " b" * 46,
        "│  │    " + " b" * 14,
        "│  └─ c",
        "└─ no more",
    ]


def test_lines_that_are_broken_already_are_broken_anew() -> None:
    tree = "no\n  more\n├─ a\n│  │  b\n│  └─ c\n│     d\n└─ e"
    assert render("title", parse(tree)).splitlines() == [
        "title",
        "└─ no more",
        "   ├─ a b",
        "   │  └─ c d",
        "   └─ e",
    ]


def test_narrow_terminal_has_narrow_lines() -> None:
    assert render("a b c", [Branch("d e f")], width=6).splitlines() == ["a b c", "└─ d e", "   f"]


def test_word_that_is_longer_than_a_line_is_not_broken() -> None:
    assert render("x" * 150, [Branch("y" * 150)]).splitlines() == ["x" * 150, "└─ " + "y" * 150]
