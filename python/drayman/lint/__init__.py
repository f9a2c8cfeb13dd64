"""Checks on manifests: what the API server would refuse, and what people get wrong that it accepts.

>>> from drayman.lint import lint
>>> for one in lint([("pod.yaml", text)]):
...     print(one.rule, one.position.line, one.message)
"""

from __future__ import annotations

from drayman.lint.diagnostic import Diagnostic, Edit, Fix, Severity
from drayman.lint.engine import Options, lint
from drayman.lint.fixing import fix
from drayman.lint.rule import Rule, all_rules

__all__ = ["Diagnostic", "Edit", "Fix", "Options", "Rule", "Severity", "all_rules", "fix", "lint"]
