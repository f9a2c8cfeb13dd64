from __future__ import annotations

from drayman.reasons.layout import Branch, drawn, render


def test_long_text_continues_under_itself() -> None:
    words = "word " * 25
    tree = render(f"title {words}", [Branch(words, (Branch(words),)), Branch(words)])
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
    assert render("title", drawn(tree)).splitlines() == [
        "title",
        "├─ no",
        "│  ├─ a",
        "│  │  └─" + " b" * 46,
        "│  │    " + " b" * 14,
        "│  └─ c",
        "└─ no more",
    ]


def test_word_that_is_longer_than_a_line_is_not_broken() -> None:
    assert render("x" * 150, [Branch("y" * 150)]).splitlines() == ["x" * 150, "└─ " + "y" * 150]
