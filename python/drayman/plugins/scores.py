"""Bringing scores into 0 to 100 (upstream's `DefaultNormalizeScore`)."""

from __future__ import annotations

from collections.abc import Sequence

from drayman.framework import MAX_NODE_SCORE


def normalized(scores: Sequence[int], *, reverse: bool = False) -> list[int]:
    """Return `scores` in proportion to the highest, which becomes 100; with `reverse`, the highest becomes 0.

    Integer division as upstream's. Scores that are all zero stay so, or all become 100.
    """
    highest = max(scores, default=0)
    if highest == 0:
        return [MAX_NODE_SCORE if reverse else 0] * len(scores)
    scaled = [MAX_NODE_SCORE * score // highest for score in scores]
    return [MAX_NODE_SCORE - score for score in scaled] if reverse else scaled
