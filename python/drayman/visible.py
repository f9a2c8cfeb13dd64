"""Text from elsewhere as a terminal can be given it: none of its characters is obeyed."""

from __future__ import annotations

_PICTURES = 0x2400
"""Where Unicode's pictures of the control characters begin."""
_SHOWN = {code: chr(_PICTURES + code) for code in range(0x20) if chr(code) not in "\t\n"}
_SHOWN |= {0x7F: "\N{SYMBOL FOR DELETE}"}
_SHOWN |= dict.fromkeys(
    [*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], "\N{REPLACEMENT CHARACTER}"
)
_SHOWN |= dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")


def visible(text: str) -> str:
    """Return `text` with a picture for each control character but tabulators and line ends, of the same length.

    What turns the direction of writing, and bytes that are no text, are replaced too.
    """
    return text if text.isascii() and text.isprintable() else text.translate(_SHOWN)
