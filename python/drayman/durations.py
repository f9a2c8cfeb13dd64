"""Durations as Go writes and reads them: `15s`, `1m30s`, `500ms`."""

from __future__ import annotations

import re

_PART = re.compile(r"(\d+\.?\d*|\.\d+)(h|ms|m|s|us|µs|ns)", re.ASCII)
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def parse(text: str) -> float:
    """Return the seconds of a duration, which may have a sign. Raises `ValueError` when `text` is none."""
    sign, digits = (-1.0, text[1:]) if text.startswith("-") else (1.0, text.removeprefix("+"))
    if digits == "0":
        return 0.0
    parts = _PART.findall(digits)
    if not parts or "".join(number + unit for number, unit in parts) != digits:
        raise ValueError(f"`{text}` is not a duration")
    return sign * sum(float(number) * _SECONDS[unit] for number, unit in parts)


def show(seconds: float) -> str:
    """Return `seconds` in the shortest form of Go's own printing, without zeros in front: `1m30s`."""
    if seconds < 0:
        return f"-{show(-seconds)}"
    if 0 < seconds < 1:
        return f"{round(seconds * 1000, 6):g}ms"
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    text = f"{round(rest, 9):g}s"
    if hours:
        return f"{hours}h{minutes}m{text}"
    return f"{minutes}m{text}" if minutes else text
