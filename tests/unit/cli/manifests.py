"""Small manifests; objects are in the namespace `team-a`, which is given where that matters."""

from __future__ import annotations

GPU = "gpu.example.com"


def claim(name: str = "train", *, device_class: str = GPU, namespace: str = "team-a", more: str = "") -> str:
    """Return a claim with the request `gpu`; `more` is added to what it asks for."""
    return f"""\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  devices:
    requests:
    - name: gpu
      exactly: {{deviceClassName: {device_class}{more}}}
"""


def template(name: str = "one-gpu", *, device_class: str = GPU) -> str:
    return f"""\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: {name}, namespace: team-a}}
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly: {{deviceClassName: {device_class}}}
"""


def pod(name: str, *entries: str, spec: str = "", status: str = "") -> str:
    """Return a pod with claim entries; members of `spec` and `status` in flow style are added."""
    return f"""\
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: team-a}}
spec:
  containers: [{{name: c, image: i, command: [sh, -c, "env; sleep 5"]}}]
  resourceClaims: [{", ".join(entries)}]
  {spec or "restartPolicy: Never"}
status: {{{status}}}
"""


def slice_(node: str, *, devices: int = 2, driver: str = GPU) -> str:
    named = ", ".join(f"{{name: gpu-{index}}}" for index in range(devices))
    return f"""\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{name: {node}-{driver}}}
spec:
  driver: {driver}
  nodeName: {node}
  pool: {{name: {node}, generation: 1, resourceSliceCount: 1}}
  devices: [{named}]
"""


def device_class(name: str = GPU, *, driver: str = GPU) -> str:
    return f"""\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {{name: {name}}}
spec: {{selectors: [{{cel: {{expression: "device.driver == '{driver}'"}}}}]}}
"""


def node(name: str, **labels: str) -> str:
    labelled = ", ".join(f"{key}: {value}" for key, value in labels.items())
    return f"apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{{labelled}}}}}\n"


def files(*documents: str) -> str:
    return "---\n".join(documents)
