"""The secondary scheduler: configuration, wiring, scheduling and binding cycles."""

from drayman.scheduler.app import run
from drayman.scheduler.configuration import Configuration, Profile
from drayman.scheduler.vitals import Vitals

__all__ = ["Configuration", "Profile", "Vitals", "run"]
