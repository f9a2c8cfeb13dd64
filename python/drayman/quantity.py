"""Quantities and semantic versions, with the reading, order and printing of Kubernetes."""

from __future__ import annotations

from drayman._native import Quantity, Version

__all__ = ["Quantity", "Version"]
