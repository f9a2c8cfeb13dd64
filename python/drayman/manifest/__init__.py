"""The one loader of manifests: files and text to Kubernetes objects that know where they stand.

YAML is read as kubectl reads it (booleans of YAML 1.1, dates as text), but a field that is given twice is an error.
`kind: List` is taken apart. :func:`check` is for verbs that work without a server: it refuses what an API server would
not decode; :func:`check_type` only what no server has.
"""

from __future__ import annotations

from drayman.manifest.checking import check, check_type
from drayman.manifest.loading import Manifest, load, parse
from drayman.manifest.position import Position, Tree

__all__ = ["Manifest", "Position", "Tree", "check", "check_type", "load", "parse"]
