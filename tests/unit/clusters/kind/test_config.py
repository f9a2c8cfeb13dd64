"""What kind is told: whole texts."""

from __future__ import annotations

import pytest
import yaml

from drayman import features
from drayman.errors import InputError
from drayman.testing.clusters.kind import versions
from drayman.testing.clusters.kind.config import Wanted, text
from drayman.testing.clusters.kind.docker import NodeImage

OURS = """\
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
name: drayman-test
networking:
  apiServerAddress: 127.0.0.1
  apiServerPort: 6443
  disableDefaultCNI: true
featureGates:
  DRAAdminAccess: false
kubeadmConfigPatches:
- |
  kind: InitConfiguration
  skipPhases:
  - preflight
  - addon/coredns
- |
  kind: KubeletConfiguration
  failCgroupV1: false
  localStorageCapacityIsolation: false
nodes:
- role: control-plane
  image: docker.io/drayman/node:v1.37.2
- role: worker
  image: docker.io/drayman/node:v1.37.2
  labels:
    drayman.internal/devices: mock
- role: worker
  image: docker.io/drayman/node:v1.37.2
  labels:
    drayman.internal/devices: mock
"""

PUBLIC = """\
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
name: drayman-test
networking:
  apiServerAddress: 127.0.0.1
featureGates:
  DRAConsumableCapacity: true
  DRADeviceTaints: false
runtimeConfig:
  resource.k8s.io/v1alpha3: 'true'
containerdConfigPatches:
- |
  version = 2
  [plugins."io.containerd.grpc.v1.cri"]
  enable_cdi = true
  cdi_spec_dirs = ["/etc/cdi", "/var/run/cdi"]
- |
  a = 1
  b = 2
nodes:
- role: control-plane
  image: kindest/node:v1.34.0
- role: worker
  image: kindest/node:v1.34.0
  labels:
    drayman.internal/devices: mock
"""


def test_node_image_of_ours_on_old_control_groups() -> None:
    image = NodeImage("docker.io/drayman/node:v1.37.2", "1.37.2", "2.4.2", is_ours=True)
    version = versions.Version("1.37", "kindest/node:v1.37.0", {}, {}, ())
    wanted = Wanted("drayman-test", image, version, 2, 6443, "1", {"DRAAdminAccess": False})
    assert text(wanted) == OURS


def test_public_image_with_an_old_containerd_and_what_its_version_needs() -> None:
    image = NodeImage("kindest/node:v1.34.0", "1.34.0", "1.7.27", is_ours=False)
    gates = {"DRAConsumableCapacity": True, "DRADeviceTaints": True}
    served = {"resource.k8s.io/v1alpha3": "true"}
    version = versions.Version("1.34", image.name, gates, served, ("a = 1\nb = 2\n",))
    wanted = Wanted("drayman-test", image, version, 1, 0, "2", {"DRADeviceTaints": False})
    assert text(wanted) == PUBLIC


@pytest.mark.parametrize("version", versions.table(), ids=lambda one: one.kubernetes)
def test_version_of_the_table_has_gates_of_its_kubernetes(version: versions.Version) -> None:
    features.resolve(kubernetes_version=version.kubernetes, feature_gates=version.feature_gates)
    assert version.image.startswith(f"kindest/node:v{version.kubernetes}.")
    for patch in version.containerd_patches:
        assert patch.startswith("version = ")
    image = NodeImage(version.image, f"{version.kubernetes}.0", "2.1.4", is_ours=False)
    read = yaml.safe_load(text(Wanted("drayman-x", image, version, 2, 0, "2", {})))
    assert read.get("featureGates", {}) == dict(version.feature_gates)
    assert "containerdConfigPatches" not in read or version.containerd_patches


def test_table_has_the_versions_whose_gates_are_known() -> None:
    assert tuple(version.kubernetes for version in versions.table()) == features.KUBERNETES_VERSIONS


def test_version_that_is_not_in_the_table_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        versions.find("1.20")
    assert str(caught.value) == ("the backend `kind` does not know Kubernetes 1.20; it knows 1.34, 1.35, 1.36, 1.37")
