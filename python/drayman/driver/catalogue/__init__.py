"""Hardware as data: what a mock driver publishes for a node, and the DeviceClass that selects it.

Each profile is a YAML file beside this module, called like its driver. Everything else (devices, slices, CDI names) is
derived from it.
"""

from __future__ import annotations

from drayman.driver.catalogue.foreign import Foreign
from drayman.driver.catalogue.profile import MOST_DEVICES, NAMES, Profile, check_devices, profile

__all__ = ["MOST_DEVICES", "NAMES", "Foreign", "Profile", "check_devices", "profile"]
