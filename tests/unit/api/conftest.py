"""What validation says about objects with their defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from drayman.api import defaults, validation

Texts = Callable[..., list[str]]


@pytest.fixture
def refusals() -> Texts:
    """Return the texts of the errors against a new object."""

    def texts(obj: Mapping[str, Any], context: validation.Context | None = None) -> list[str]:
        return [str(error) for error in validation.create(defaults.apply(obj), context)]

    return texts


@pytest.fixture
def update_refusals() -> Texts:
    """Return the texts of the errors against an update."""

    def texts(new: Mapping[str, Any], old: Mapping[str, Any], subresource: str | None = None) -> list[str]:
        return [str(error) for error in validation.update(new, old, None, subresource)]

    return texts
