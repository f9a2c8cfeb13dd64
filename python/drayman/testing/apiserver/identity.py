"""Names and uids that the server gives, from one seeded source: two runs give the same."""

from __future__ import annotations

import random
import uuid

_SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_MAX_GENERATED_BASE = 63 - _SUFFIX_LENGTH


class Identity:
    """Makes uids and the random part of generated names."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - repeatable on purpose, guards nothing

    def uid(self) -> str:
        """Return a new uid."""
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def name(self, base: str) -> str:
        """Return `base`, cut where it must be, with five random characters (`names.SimpleNameGenerator` upstream)."""
        suffix = "".join(self._random.choice(_SUFFIX_ALPHABET) for _ in range(_SUFFIX_LENGTH))
        return base[:_MAX_GENERATED_BASE] + suffix
