"""Messages of conditions and notes of events."""

from __future__ import annotations

from drayman.scheduler.verdicts import message_of, note_of


def test_explanation_is_appended() -> None:
    assert message_of("no room.", "two more would do") == "no room. drayman: two more would do"
    assert message_of("no room.", "") == "no room."


def test_long_explanation_is_cut_between_characters() -> None:
    message = message_of("no room.", "ü" * 200)
    assert message == f"no room. drayman: {'ü' * 148} ..."
    assert len(message.removeprefix("no room. drayman: ").encode()) == 300


def test_short_note_is_the_message() -> None:
    assert note_of("a", "a drayman: b") == "a drayman: b"


def test_note_is_cut_within_the_explanation() -> None:
    upstream = "x" * 900
    note = note_of(upstream, message_of(upstream, "y" * 300))
    assert note == f"{upstream} drayman: {'y' * 110} ..."
    assert len(note.encode()) == 1024


def test_note_is_cut_between_characters() -> None:
    upstream = "x" * 901
    note = note_of(upstream, message_of(upstream, "ü" * 140))
    assert note == f"{upstream} drayman: {'ü' * 54} ..."
    assert len(note.encode()) == 1023


def test_upstreams_text_of_many_bytes_is_not_cut_for_the_explanation() -> None:
    upstream = "ü" * 508
    assert note_of(upstream, message_of(upstream, "y" * 300)) == upstream
    assert note_of("ü" * 600, message_of("ü" * 600, "y")) == "ü" * 510 + " ..."


def test_explanation_without_room_is_left_out_of_the_note() -> None:
    upstream = "x" * 1020
    assert note_of(upstream, message_of(upstream, "y" * 300)) == upstream


def test_upstreams_text_is_cut_as_upstream_cuts_it() -> None:
    assert note_of("x" * 2000, "x" * 2000) == "x" * 1020 + " ..."
