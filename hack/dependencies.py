"""Dependency policy: every dependency has an allowed licence and comes from a registry, and no crate comes twice.

Reads `cargo metadata` and the metadata of the installed Python packages. Exits 1 and names what breaks the policy.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from importlib import metadata

ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "PSF-2.0",
    "Python-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
}

# What packages without a licence expression say in their classifiers or free text.
FREE_TEXT = {
    "Apache": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "ISC": "ISC",
    "MIT": "MIT",
    "Mozilla Public License 2.0": "MPL-2.0",
    "Python Software Foundation": "PSF-2.0",
}

# Crates that may come in several versions, because crates of others ask for different ones.
# `syn`: jiff names its macros for no platform, to bind their version; the older `syn` that they need is never built.
DUPLICATES = frozenset({"syn"})


def allowed(expression: str) -> bool:
    """Return whether some choice that the licence expression offers is allowed."""
    choices = re.split(r"\s+OR\s+|/", expression.replace("(", "").replace(")", ""))
    return any(all(part.strip() in ALLOWED for part in re.split(r"\s+AND\s+", choice)) for choice in choices)


def cargo_problems() -> list[str]:
    """Return what the crates break."""
    output = subprocess.run(
        ["cargo", "metadata", "--format-version=1", "--locked"], check=True, capture_output=True, text=True
    ).stdout
    packages = json.loads(output)["packages"]
    problems = []
    versions: dict[str, set[str]] = defaultdict(set)
    for package in packages:
        name = f"crate {package['name']} {package['version']}"
        if package["source"] is None:
            continue
        versions[package["name"]].add(package["version"])
        if not package["source"].startswith("registry+"):
            problems.append(f"{name}: comes from {package['source'].split('+')[0]}, not from a registry")
        if not allowed(package["license"] or ""):
            problems.append(f"{name}: licence `{package['license']}` is not allowed")
    problems += [
        f"crate {name}: comes in {len(found)} versions: {', '.join(sorted(found))}"
        for name, found in versions.items()
        if len(found) > 1 and name not in DUPLICATES
    ]
    return problems


def python_licence(package: metadata.PackageMetadata) -> str:
    """Return the licence expression of an installed package, derived from its classifiers or free text if need be."""
    expression = package.get("License-Expression")
    if expression:
        return expression
    classifiers = [line for line in package.get_all("Classifier") or [] if line.startswith("License ::")]
    stated = " ".join([*classifiers, (package.get("License") or "")[:200]])
    return next((licence for text, licence in FREE_TEXT.items() if text in stated), stated.strip())


def python_problems() -> list[str]:
    """Return what the installed Python packages break."""
    problems = []
    for distribution in metadata.distributions():
        licence = python_licence(distribution.metadata)
        if not allowed(licence):
            problems.append(f"package {distribution.metadata['Name']}: licence `{licence}` is not allowed")
    return problems


def main() -> int:
    """Print the problems and return the exit code."""
    problems = sorted(cargo_problems() + python_problems())
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
