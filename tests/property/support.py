"""How random comparisons with upstream run, and what is kept of a difference.

`DRAYMAN_ORACLE_SEED` and `DRAYMAN_ORACLE_EXAMPLES` choose other examples and more of them. The smallest example of a
difference is written to `DRAYMAN_DIFFERENCES` (a folder for temporary files unless set), ready to become a case.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pytest
from hack.oracle.layout import layout
from hypothesis import HealthCheck, Phase, seed, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SEED = int(os.environ.get("DRAYMAN_ORACLE_SEED", "1"))
EXAMPLES = int(os.environ.get("DRAYMAN_ORACLE_EXAMPLES", "1000"))
DIFFERENCES = Path(os.environ.get("DRAYMAN_DIFFERENCES", Path(tempfile.gettempdir()) / "drayman-differences"))

Test = TypeVar("Test", bound="Callable[..., None]")


def comparison(examples: float = 1.0, *, shrink: bool = True) -> Callable[[Test], Test]:
    """Mark a property as one that needs the oracle; it gets `examples` times as many examples as were asked for."""

    def decorate(test: Test) -> Test:
        configure = settings(
            max_examples=int(EXAMPLES * examples),
            phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
            database=None,
            report_multiple_bugs=False,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
        )
        return cast("Test", pytest.mark.oracle(seed(SEED)(configure(test))))

    return decorate


def agree(name: str, question: Mapping[str, Any], drayman: Any, upstream: Any) -> None:
    """Fail when the answers differ, after writing them down; the smallest example is written last."""
    if drayman == upstream:
        return
    DIFFERENCES.mkdir(parents=True, exist_ok=True)
    file = DIFFERENCES / f"{name}-{SEED}.json"
    file.write_text(layout({**question, "drayman": drayman, "expect": upstream}) + "\n")
    pytest.fail(f"not as upstream (seed {SEED}): {file}\n{file.read_text()}")
