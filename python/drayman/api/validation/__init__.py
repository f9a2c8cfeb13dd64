"""The API's rules about whole objects, one module a kind.

Objects are decoded (:mod:`drayman.api.schema`), of `resource.k8s.io` in version `v1`, and have their defaults. The
rules are upstream's, in its order and words; kinds without rules of their own have those of every object.
"""

from __future__ import annotations

from drayman.api.validation.context import Context
from drayman.api.validation.kinds import create, update, warnings

__all__ = ["Context", "create", "update", "warnings"]
