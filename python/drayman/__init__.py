"""Which devices would this claim get, and if none, why: DRA allocation for Kubernetes, offline and in a scheduler."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from drayman import cel
from drayman.allocator import Allocated, AllocatedState, Allocator, Failed, Outcome, Unallocatable
from drayman.cluster import Cluster
from drayman.errors import (
    AllocationError,
    APIStatusError,
    BudgetExceededError,
    CapacityError,
    CELCompileError,
    CELRuntimeError,
    ConstraintError,
    DeviceClassNotFoundError,
    DraymanError,
    FeatureDisabledError,
    InputError,
    LimitExceededError,
    MissingExtraError,
    PoolError,
    UnallocatableError,
    UnreachableError,
    UnsupportedRequestError,
)
from drayman.explain import Explanation
from drayman.inventory import Change, Evaluation, Inventory
from drayman.quantity import Quantity, Version

if TYPE_CHECKING:
    __version__: str

KUBERNETES = "1.37.2"
"""The release of Kubernetes whose allocator is followed."""

__all__ = [
    "KUBERNETES",
    "APIStatusError",
    "Allocated",
    "AllocatedState",
    "AllocationError",
    "Allocator",
    "BudgetExceededError",
    "CELCompileError",
    "CELRuntimeError",
    "CapacityError",
    "Change",
    "Cluster",
    "ConstraintError",
    "DeviceClassNotFoundError",
    "DraymanError",
    "Evaluation",
    "Explanation",
    "Failed",
    "FeatureDisabledError",
    "InputError",
    "Inventory",
    "LimitExceededError",
    "MissingExtraError",
    "Outcome",
    "PoolError",
    "Quantity",
    "Unallocatable",
    "UnallocatableError",
    "UnreachableError",
    "UnsupportedRequestError",
    "Version",
    "__version__",
    "cel",
]

# A library says nothing by itself: what is logged goes where the application wants it.
logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> str:
    """Read the version when it is asked for: `importlib.metadata` takes longer to import than all the rest."""
    if name == "__version__":
        from importlib.metadata import version

        return version("drayman")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
