"""Which devices would this claim get, and if none, why: DRA allocation for Kubernetes, offline and in a scheduler."""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drayman import cel
    from drayman.allocator import (
        Allocated,
        AllocatedState,
        Allocator,
        Budget,
        Failed,
        Outcome,
        Unallocatable,
        Unfinished,
    )
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
    "Budget",
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
    "Unfinished",
    "UnreachableError",
    "UnsupportedRequestError",
    "Version",
    "__version__",
    "cel",
]

_MODULES = {
    "allocator": (
        "Allocated",
        "AllocatedState",
        "Allocator",
        "Budget",
        "Failed",
        "Outcome",
        "Unallocatable",
        "Unfinished",
    ),
    "cluster": ("Cluster",),
    "explain": ("Explanation",),
    "inventory": ("Change", "Evaluation", "Inventory"),
    "quantity": ("Quantity", "Version"),
}
"""Where the names of `__all__` come from that are not errors, modules or constants."""

# A library says nothing by itself: what is logged goes where the application wants it.
logging.getLogger(__name__).addHandler(logging.NullHandler())

if not TYPE_CHECKING:  # type checkers know the names from above, and that there are no others

    def __getattr__(name: str) -> Any:
        """Import what is asked for when it is: the command line starts quickly, and needs little of this."""
        if name == "__version__":
            from importlib.metadata import version

            return version("drayman")
        if name in ("cel", "errors"):
            return importlib.import_module(f"drayman.{name}")
        if name in __all__:
            module = next((module for module, names in _MODULES.items() if name in names), "errors")
            value = getattr(importlib.import_module(f"drayman.{module}"), name)
            globals()[name] = value
            return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
