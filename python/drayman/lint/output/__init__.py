"""How diagnostics are printed: as text for people, JSON, SARIF, and annotations of GitHub."""

from __future__ import annotations

from drayman.lint.output.github import github
from drayman.lint.output.json import json_object
from drayman.lint.output.sarif import sarif_object
from drayman.lint.output.text import summary, text

__all__ = ["github", "json_object", "sarif_object", "summary", "text"]
