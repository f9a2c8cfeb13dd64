"""The secondary scheduler: configuration, wiring, scheduling and binding cycles."""

from drayman.scheduler.app import run
from drayman.scheduler.configuration import Configuration, Profile

__all__ = ["Configuration", "Profile", "run"]
