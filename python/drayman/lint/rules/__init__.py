"""The rules of lint, one module each; :mod:`drayman.lint.rule` finds them here."""
