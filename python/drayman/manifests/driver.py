"""The manifests of the mock driver, changed as the values of its chart would change them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from drayman.driver import catalogue
from drayman.errors import InputError
from drayman.manifests.release import Object, Release, load

FOLDER = "(/[.]?[A-Za-z0-9_@+~-][A-Za-z0-9._@+~-]*)+"
"""What all of a path matches, here and in the chart's schema: nothing that a mount, an argument (with its `$(NAME)`)
or a line of YAML would take for more than a folder."""

_KUBELET, _CDI = "/var/lib/kubelet", "/var/run/cdi"


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver(Release):
    """A driver on every node of `node_selector`.

    `device_class` and `admission_policy` say whether these come with it; the policy lets each pod of the driver write
    the ResourceSlices of its own node only.
    """

    chart: ClassVar[str] = "drayman-driver"

    devices: int = 8
    kubelet_directory: str = _KUBELET
    cdi_directory: str = _CDI
    device_class: bool = True
    admission_policy: bool = True

    def check(self) -> None:
        """Raise :class:`~drayman.errors.InputError` for wrong values."""
        catalogue.check_devices(self.devices)
        for what, folder in (("kubelet directory", self.kubelet_directory), ("cdi directory", self.cdi_directory)):
            if re.fullmatch(FOLDER, folder) is None:
                hint = "letters, digits and `._-+@~` between slashes; no `.` or `..`, and no slash at the end"
                raise InputError(f"`{folder}` is no absolute path of plain names", field=what, hint=hint)

    def objects(self) -> list[Object]:
        """Return the objects in the order in which they can be created."""
        kept = [one for one in self.named(load("driver.yaml")) if self._needs(one["kind"])]
        (daemon_set,) = (one for one in kept if one["kind"] == "DaemonSet")
        pod = daemon_set["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        container["args"] = [self._argument(one) for one in container["args"]]
        for mount in container["volumeMounts"]:
            mount["mountPath"] = self._folder(mount["mountPath"])
        for volume in pod["volumes"]:
            volume["hostPath"]["path"] = self._folder(volume["hostPath"]["path"])
        self.place(pod)
        return kept

    def _needs(self, kind: str) -> bool:
        if kind == "DeviceClass":
            return self.device_class
        return self.admission_policy or not kind.startswith("ValidatingAdmissionPolicy")

    def _argument(self, argument: str) -> str:
        name, _, value = argument.partition("=")
        return f"{name}={self.devices if name == '--devices' else self._folder(value)}"

    def _folder(self, path: str) -> str:
        """Return a path below one of the node's folders as it is below the chosen one; other text stays."""
        for default, chosen in ((_KUBELET, self.kubelet_directory), (_CDI, self.cdi_directory)):
            if path == default or path.startswith(f"{default}/"):
                return chosen + path.removeprefix(default)
        return path
