"""References of pods and claims to objects that do not exist, or are of the other kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drayman.api.validation import names
from drayman.lint import drivers, edits, views
from drayman.lint.context import finding
from drayman.lint.examples import POD
from drayman.lint.rule import Severity, rule
from drayman.lint.similar import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drayman.lint.context import Context
    from drayman.lint.rule import Findings
    from drayman.lint.views import PodView

_TEMPLATE = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu}
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly: {deviceClassName: gpu.example.com}
"""
_POD = "---\n" + POD
_CLAIM = (
    _TEMPLATE.replace("ClaimTemplate", "Claim").replace("  spec:\n    devices", "  devices").replace("      ", "    ")
)
_CLASS = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.example.com}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.example.com'"}}]}
---"""


@rule(
    "device-class-missing",
    Severity.ERROR,
    summary="a request names a DeviceClass that does not exist",
    why="""
Pods that use the claim stay pending until the class exists. Classes usually come with the driver: its Helm chart
installs them. The rule speaks up when DeviceClasses or ResourceSlices are among the files or in `--with`, but not about
the classes of well-known drivers. It is an error beside a whole cluster, and where another class has nearly that name;
else a warning.
""",
    bad=_CLASS + _CLAIM.replace("Name: gpu", "Name: gpus"),
    good=_CLASS + _CLAIM,
)
def device_class_missing(context: Context) -> Findings:
    """Look for the class of every request; of a name that no class can have the API server speaks."""
    known = context.names("DeviceClass")
    for request in context.requests():
        name = request.device_class
        if name in known or names.dns_subdomain(name) or (drivers.of_class(name) and not context.complete):
            continue
        similar = did_you_mean(name, known if context.knows("DeviceClass") else _public_classes(name))
        if not similar and not context.knows("DeviceClass"):
            continue
        severity = None if (similar and known) or context.complete else Severity.WARNING
        hint = similar or "create the class, or install the driver that brings it"
        path = f"{request.path}.deviceClassName"
        yield finding(request, path, f"DeviceClass `{name}` does not exist", hint, severity=severity)


def _public_classes(name: str) -> list[str]:
    """Return the classes of public drivers with the same first part: `gpu2.nvidia.com` may be a class of one's own."""
    classes = [one for driver in drivers.known().values() for one in driver.classes]
    return [one for one in classes if one.partition(".")[0] == name.partition(".")[0]]


@rule(
    "claim-missing",
    Severity.ERROR,
    summary="a pod uses a ResourceClaim or template that does not exist",
    why="""
The scheduler holds the pod back until the claim exists, and says so in no event. The rule speaks up when the files or
`--with` hold claims or templates of the pod's namespace, or the Namespace itself, or the claim in another namespace. It
is an error beside a whole cluster, and where another claim has nearly that name; else a warning.
""",
    bad=_TEMPLATE + _POD.replace("Name: one-gpu", "Name: one-gpus"),
    good=_TEMPLATE + _POD,
)
def claim_missing(context: Context) -> Findings:
    """Look for the claim or template of every entry."""
    generated = _generated(context)
    for pod in _users(context):
        namespace = pod.document.namespace
        for path, entry in pod.claims():
            for field, kind, other in _REFERENCES:
                name = entry.get(field)
                if not name or context.find(kind, name, namespace) or context.find(other, name, namespace):
                    continue
                if (namespace, name) in generated or (kind == "ResourceClaimTemplate" and pod.has_claim(entry)):
                    continue
                there = _elsewhere(context, pod, kind, name)
                if there is None and not context.knows(kind, namespace):
                    continue
                message = f"{kind} `{namespace}/{name}` does not exist"
                similar = did_you_mean(name, context.names(kind, namespace))
                severity = None if similar or context.complete else Severity.WARNING
                if there is not None:
                    message += f": it is in namespace `{there}`, and a pod uses those of its own"
                yield finding(pod, f"{path}.{field}", message, similar, severity=severity)


def _elsewhere(context: Context, pod: PodView, kind: str, name: str) -> str | None:
    """Return the namespace in which there is an object of the name, when it and the pod say where they are."""
    if not pod.document.metadata.get("namespace"):
        return None
    found = (one.metadata.get("namespace") for one in context.of_kind(kind) if one.short_name == name)
    return next((str(namespace) for namespace in found if namespace), None)


def _users(context: Context) -> Iterator[PodView]:
    """Yield what names claims: pods, templates of pods, and PodGroups."""
    yield from context.pods()
    for document in context.linted:
        yield from views.pod_groups(document)


def _generated(context: Context) -> set[tuple[str, str]]:
    """Return the templates that a controller makes: those of ComputeDomains."""
    found = set()
    for document in context.of_kind("ComputeDomain", group="resource.nvidia.com"):
        value: Any = document.object.get("spec")
        for name in ("channel", "resourceClaimTemplate", "name"):
            value = value.get(name) if isinstance(value, dict) else None
        found.add((document.namespace, str(value)))
    return found


_REFERENCES = (
    ("resourceClaimName", "ResourceClaim", "ResourceClaimTemplate"),
    ("resourceClaimTemplateName", "ResourceClaimTemplate", "ResourceClaim"),
)


@rule(
    "claim-name-is-template",
    Severity.ERROR,
    summary="`resourceClaimName` names a ResourceClaimTemplate",
    why="""
The pod waits for a ResourceClaim of that name, which nobody creates. With `resourceClaimTemplateName` every pod gets a
claim of its own, made from the template.
""",
    bad=_TEMPLATE + _POD.replace("ClaimTemplateName", "ClaimName"),
    good=_TEMPLATE + _POD,
)
def claim_name_is_template(context: Context) -> Findings:
    """Find names of templates where a claim is meant."""
    yield from _wrong_kind(context, "resourceClaimName", "resourceClaimTemplateName", safe=True)


@rule(
    "template-name-is-claim",
    Severity.ERROR,
    summary="`resourceClaimTemplateName` names a ResourceClaim",
    why="""
The claim controller finds no template of that name and creates nothing. With `resourceClaimName` the pod uses the
existing claim, together with all other pods that name it.
""",
    bad=_CLAIM + _POD,
    good=_CLAIM + _POD.replace("ClaimTemplateName", "ClaimName"),
)
def template_name_is_claim(context: Context) -> Findings:
    """Find names of claims where a template is meant."""
    yield from _wrong_kind(context, "resourceClaimTemplateName", "resourceClaimName", safe=False)


def _wrong_kind(context: Context, field: str, right: str, *, safe: bool) -> Findings:
    kinds = {name: (kind, other) for name, kind, other in _REFERENCES}
    kind, other = kinds[field]
    generated = _generated(context) if other == "ResourceClaimTemplate" else set()
    for pod in _users(context):
        namespace = pod.document.namespace
        for path, entry in pod.claims():
            name = entry.get(field)
            if not name or entry.get(right) or context.find(kind, name, namespace):
                continue  # of an entry with both names the API server speaks
            if not context.find(other, name, namespace) and (namespace, name) not in generated:
                continue
            message = f"`{name}` is a {other}, and there is no {kind} of that name"
            fix = edits.rename(pod.document, f"{path}.{field}", right, safe=safe) if right not in entry else None
            yield finding(pod, f"{path}.{field}", message, f"write `{right}: {name}`", fix=fix)


@rule(
    "claim-request-missing",
    Severity.ERROR,
    summary="a container uses a request that the claim does not have",
    why="""
`resources.claims[].request` gives the container only the devices of that request. The API server cannot check the name,
because it does not look into the claim; the container gets no device.
""",
    bad=_TEMPLATE + _POD.replace("{name: gpu}]", "{name: gpu, request: gpus}]"),
    good=_TEMPLATE + _POD.replace("{name: gpu}]", "{name: gpu, request: gpu}]"),
)
def claim_request_missing(context: Context) -> Findings:
    """Look for the request of every claim of a container."""
    for pod in context.pods():
        requests = {}
        for _, entry in pod.claims():
            claim = context.claim_of(pod, entry)
            if claim is not None:
                requests[entry.get("name")] = [str(one.get("name")) for one in claim.devices.get("requests") or ()]
        for path, container in pod.containers():
            for index, used in enumerate((container.get("resources") or {}).get("claims") or ()):
                known, name = requests.get(used.get("name")), used.get("request")
                if name and known is not None and name not in known:
                    listed = ", ".join(f"`{one}`" for one in known) or "none"
                    message = f"claim `{used['name']}` has no request `{name}`; it has {listed}"
                    at = f"{path}.resources.claims[{index}].request"
                    yield finding(pod, at, message, did_you_mean(name, known))
