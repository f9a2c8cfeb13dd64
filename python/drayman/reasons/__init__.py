"""Why a pod or claim is where it is, or nowhere: what stands against it before any device is looked at, and then the
kernel's explanation of its claims.

Works on plain objects and the library; talks to no server and changes nothing. :meth:`drayman.Cluster.explain` is the
way in.
"""

from __future__ import annotations

from drayman.reasons.answer import Answer, Group
from drayman.reasons.facts import Fact
from drayman.reasons.state import KINDS, State

__all__ = ["KINDS", "Answer", "Fact", "Group", "State"]
