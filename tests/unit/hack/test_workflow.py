"""The job of public CI parses, may do nothing but read, takes pinned actions, and has its versions from the table."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from drayman import features

ROOT = Path(__file__).parents[3]
FILE = ROOT / ".github/workflows/kind.yml"
WORKFLOW: dict[Any, Any] = yaml.safe_load(FILE.read_text())
JOBS: dict[str, dict[str, Any]] = WORKFLOW["jobs"]
STEPS = [step for job in JOBS.values() for step in job["steps"]]
SCRIPTS = "\n".join(step["run"] for step in STEPS if "run" in step)


def test_it_may_only_read() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert all("permissions" not in job for job in JOBS.values())
    assert "secrets." not in FILE.read_text()
    checkouts = [step for step in STEPS if step.get("uses", "").startswith("actions/checkout@")]
    assert len(checkouts) == len(JOBS)
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_actions_are_pinned_and_say_which_version_that_is() -> None:
    used = [line for line in FILE.read_text().splitlines() if "uses:" in line]
    assert used
    assert all(re.search(r"uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line) for line in used)


def test_jobs_do_not_hang() -> None:
    assert all(job["timeout-minutes"] <= 60 for job in JOBS.values())


def test_matrix_is_the_table(tmp_path: Path) -> None:
    output = tmp_path / "output"
    (table,) = (step for step in JOBS["versions"]["steps"] if step.get("id") == "table")
    environment = {**os.environ, "GITHUB_OUTPUT": str(output)}
    subprocess.run(["bash", "-ec", table["run"]], cwd=ROOT, env=environment, check=True)
    name, _, value = output.read_text().partition("=")

    assert json.loads(value) == list(features.KUBERNETES_VERSIONS)
    assert JOBS["versions"]["outputs"] == {name: f"${{{{ steps.table.outputs.{name} }}}}"}
    assert JOBS["kind"]["needs"] == "versions"
    assert JOBS["kind"]["strategy"]["matrix"] == {"kubernetes": f"${{{{ fromJSON(needs.versions.outputs.{name}) }}}}"}
    assert JOBS["kind"]["env"] == {"KUBERNETES": "${{ matrix.kubernetes }}"}


@pytest.mark.parametrize("script", sorted(set(re.findall(r"hack/[\w/-]+", SCRIPTS))))
def test_scripts_that_it_runs_are_there(script: str) -> None:
    assert (ROOT / script).is_file()


def test_scenarios_run_on_kind_and_their_logs_are_kept() -> None:
    (command,) = re.findall("^pytest .*", SCRIPTS, re.MULTILINE)
    assert command == 'pytest e2e --backend=kind --kubernetes-version="$KUBERNETES" --basetemp="$RUNNER_TEMP/e2e"'
    (upload,) = (step for step in STEPS if step.get("uses", "").startswith("actions/upload-artifact@"))
    assert upload["if"] == "failure()"
    assert upload["with"]["path"] == "${{ runner.temp }}/e2e"
