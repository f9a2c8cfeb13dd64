"""Label selectors (`metav1.LabelSelector`): which pods a rule is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drayman import node_selector


def matches(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Tell whether `labels` are selected; no selector matches nothing, an empty one everything."""
    if selector is None:
        return False
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(node_selector.holds(each, labels) for each in selector.get("matchExpressions") or ())
