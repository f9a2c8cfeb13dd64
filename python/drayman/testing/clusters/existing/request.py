"""What is asked of a run on a cluster that is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from drayman import __version__
from drayman.testing import scenario
from drayman.testing.clusters.existing.renaming import unmovable
from drayman.testing.clusters.local.images import TESTBOX

if TYPE_CHECKING:
    from drayman.testing.scenario import Scenario

DRIVER_IMAGE = f"docker.io/drayman/driver:{__version__}"


@dataclass(frozen=True, slots=True)
class Request:
    """How the cluster is reached, and what is wanted there.

    `scheduler` runs ours beside the cluster; `driver_image` installs a mock driver from there, on `nodes` nodes with
    `devices` devices each, in place of the one that is there. `scenarios` are going to be played, in containers of
    `test_image`.
    """

    kubeconfig: str | None = None
    context: str | None = None
    name: str = "drayman"
    scheduler: bool = True
    driver_image: str = ""
    scenarios: bool = False
    test_image: str = TESTBOX
    nodes: int = 2
    devices: int = 8

    def played(self) -> list[Scenario]:
        """Return the scenarios that are going to be played."""
        return [one for one in scenario.shipped() if unmovable(one) is None] if self.scenarios else []
