"""What rules know: the objects under lint, those beside them, and the Kubernetes that they are for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from drayman import cel, features
from drayman.errors import CELCompileError, CELRuntimeError
from drayman.lint import drivers, views
from drayman.lint.rule import Finding

if TYPE_CHECKING:
    from drayman.cel import Selector
    from drayman.lint.diagnostic import Fix, Severity
    from drayman.lint.document import Document
    from drayman.lint.drivers import Driver, Name
    from drayman.lint.drivers import Kind as DeviceKind
    from drayman.lint.looks import Look
    from drayman.lint.views import ClaimView, DeviceView, ExpressionView, PodView, RequestView
    from drayman.manifest import Position


_CLAIM_KINDS = ("ResourceClaim", "ResourceClaimTemplate")
_CLUSTER_KINDS = frozenset({"DeviceClass", "DeviceTaintRule", "Namespace", "Node", "ResourceSlice"})


@dataclass(frozen=True)
class Context:
    """The documents, in the order of the files, and the gates that are on.

    `complete` says that the documents are all that there is, as those of a cluster: what is not among them does not
    exist.
    """

    documents: Sequence[Document]
    kubernetes_version: str = features.LATEST
    gates: frozenset[str] = field(default_factory=features.defaults)
    complete: bool = False

    @cached_property
    def linted(self) -> Sequence[Document]:
        """The documents under lint that can be read."""
        return [one for one in self.documents if one.linted and one.readable]

    def of_kind(self, kind: str, group: str = "resource.k8s.io") -> Sequence[Document]:
        """Return the documents of a kind, those beside too."""
        return self._by_kind.get((group, kind), [])

    def find(self, kind: str, name: str, namespace: str = "", group: str = "resource.k8s.io") -> Document | None:
        """Return the object of that name, or None; `namespace` is empty for kinds that have none."""
        return self._by_name.get((group, kind, namespace, name))

    def names(self, kind: str, namespace: str = "", group: str = "resource.k8s.io") -> list[str]:
        """Return the names of the objects of a kind in a namespace, sorted."""
        key = (group, kind, namespace)
        return sorted(name for (*place, name) in self._by_name if tuple(place) == key)

    def knows(self, kind: str, namespace: str = "") -> bool:
        """Return whether an object of this kind that is not among the documents does not exist.

        So it is when all of a cluster is given. Of files it is taken to be so where they hold others of the kind, or
        the namespace itself, or for DeviceClasses the slices of nodes: who writes some of them down writes all.
        """
        if self.complete or ("resource.k8s.io", kind, namespace) in self._places:
            return True
        if not namespace:
            return bool(self.of_kind("ResourceSlice"))
        others = any(("resource.k8s.io", other, namespace) in self._places for other in _CLAIM_KINDS)
        return others or (namespace != "default" and self.find("Namespace", namespace, group="") is not None)

    def pods(self) -> Iterator[PodView]:
        """Yield the pods and pod templates under lint."""
        for document in self.linted:
            yield from views.pods(document)

    def all_pods(self) -> Iterator[PodView]:
        """Yield all pods and pod templates, those beside too."""
        for document in self.documents:
            yield from views.pods(document)

    def claims(self) -> Iterator[ClaimView]:
        """Yield the claims and claim templates under lint."""
        for document in self.linted:
            yield from views.claims(document)

    def claim_of(self, pod: PodView, entry: Mapping[str, Any]) -> ClaimView | None:
        """Return the claim or template that an entry of `resourceClaims` names, or None when it is not known."""
        for kind, name in (
            ("ResourceClaim", entry.get("resourceClaimName")),
            ("ResourceClaimTemplate", entry.get("resourceClaimTemplateName")),
        ):
            found = self.find(kind, str(name or ""), pod.document.namespace)
            if found is not None and found.readable:
                return next(views.claims(found), None)
        return None

    def requests(self) -> Iterator[RequestView]:
        """Yield the requests of the claims under lint, and the alternatives of requests that have some."""
        for claim in self.claims():
            yield from claim.requests()

    def expressions(self) -> Iterator[ExpressionView]:
        """Yield the CEL expressions under lint."""
        for document in self.linted:
            yield from views.expressions(document)

    @cached_property
    def looks(self) -> Sequence[Look]:
        """The CEL expressions under lint with what rules ask about them."""
        from drayman.lint.looks import Look

        published: dict[int, Mapping[Name, str]] = {}
        together: dict[int, tuple[Sequence[DeviceView], frozenset[Name]]] = {}
        return [Look(self, expression, published, together) for expression in self.expressions()]

    @cached_property
    def devices(self) -> Sequence[DeviceView]:
        """All devices of all slices, those beside too; of slices of one name the first counts."""
        return [device for document in self._by_name.values() for device in views.devices(document)]

    def class_devices(self, name: str) -> Sequence[DeviceView] | None:
        """Return the devices that the DeviceClass selects, or None when that is not known.

        It is not known without slices, without the class, and when a selector of the class does not compile.
        """
        if name not in self._class_devices:
            self._class_devices[name] = self._select_class(name)
        return self._class_devices[name]

    def public(self, request: RequestView) -> tuple[Driver, DeviceKind] | None:
        """Return the public driver and kind of device whose class is asked for, where neither class nor slices are
        given.
        """
        if self.devices or self.find("DeviceClass", request.device_class) is not None:
            return None
        return drivers.of_class(request.device_class)

    def candidates(self, request: RequestView) -> Sequence[DeviceView] | None:
        """Return the devices of the request's class, before its own selectors, or None when that is not known."""
        return self.class_devices(request.device_class)

    def candidate_attributes(self, request: RequestView) -> frozenset[str]:
        """Return the qualified names of the attributes of the candidates; empty when there are none."""
        name = request.device_class
        if name not in self._class_attributes:
            devices = self.candidates(request) or ()
            self._class_attributes[name] = frozenset(one for device in devices for one in device.attribute_names())
        return self._class_attributes[name]

    @cached_property
    def _class_attributes(self) -> dict[str, frozenset[str]]:
        return {}

    def selected(self, request: RequestView) -> Sequence[DeviceView] | None:
        """Return the devices that class and request select, or None when that is not known.

        A device on which a selector fails is not among them.
        """
        candidates = self.candidates(request)
        if candidates is None:
            return None
        return self._matching(candidates, request.fields.get("selectors") or ())

    def devices_of(self, expression: ExpressionView) -> Sequence[DeviceView] | None:
        """Return the devices on which an expression is evaluated, or None when that is not known.

        Those of a class are all; those of a request are what its class and the selectors before this one select.
        """
        if expression.request is None:
            return self.devices or None
        candidates = self.candidates(expression.request)
        if candidates is None:
            return None
        before = []
        for index, selector in enumerate(expression.request.fields.get("selectors") or ()):
            if expression.path == f"{expression.request.path}.selectors[{index}].cel.expression":
                break
            before.append(selector)
        return self._matching(candidates, before)

    def compiled(self, expression: str) -> Selector | None:
        """Return the expression as the scheduler compiles it, or None when it does not compile."""
        if expression not in self._selectors:
            try:
                self._selectors[expression] = cel.compile(expression)
            except CELCompileError:
                self._selectors[expression] = None
        return self._selectors[expression]

    @cached_property
    def _selectors(self) -> dict[str, Selector | None]:
        return {}

    @cached_property
    def _class_devices(self) -> dict[str, Sequence[DeviceView] | None]:
        return {}

    def _select_class(self, name: str) -> Sequence[DeviceView] | None:
        found = self.find("DeviceClass", name)
        if found is None or not found.readable or not self.devices:
            return None
        return self._matching(self.devices, (found.object.get("spec") or {}).get("selectors") or ())

    def _matching(
        self, devices: Sequence[DeviceView], selectors: Sequence[Mapping[str, Mapping[str, str]]]
    ) -> Sequence[DeviceView] | None:
        for selector in selectors:
            answers = self.answers((selector.get("cel") or {}).get("expression", ""), devices)
            if answers is None:
                return None
            devices = [device for device, answer in zip(devices, answers, strict=True) if answer is True]
        return devices

    def answers(self, expression: str, devices: Sequence[DeviceView]) -> list[bool | CELRuntimeError] | None:
        """Return what a selector says of each of the devices, or None when it does not compile."""
        compiled = self.compiled(expression)
        if compiled is None:
            return None
        places, read = self._readings
        return compiled.answers(read, [places[id(device)] for device in devices])

    @cached_property
    def _readings(self) -> tuple[Mapping[int, int], cel.Devices]:
        """The places of all devices, and the devices as selectors see them."""
        places = {id(device): place for place, device in enumerate(self.devices)}
        return places, cel.Devices([(device.driver, device.sound) for device in self.devices])

    @cached_property
    def _by_kind(self) -> Mapping[tuple[str, str], Sequence[Document]]:
        found: dict[tuple[str, str], list[Document]] = {}
        for document in self.documents:
            found.setdefault((document.group, document.kind), []).append(document)
        return found

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, str, str, str], Document]:
        found: dict[tuple[str, str, str, str], Document] = {}
        for document in self.documents:
            namespace = document.namespace if document.kind not in _CLUSTER_KINDS else ""
            found.setdefault((document.group, document.kind, namespace, document.short_name), document)
        return found

    @cached_property
    def _places(self) -> frozenset[tuple[str, str, str]]:
        return frozenset((group, kind, namespace) for group, kind, namespace, _ in self._by_name)


def finding(
    where: PodView | ClaimView | RequestView | DeviceView | ExpressionView | Document,
    path: str,
    message: str,
    hint: str | None = None,
    *,
    position: Position | None = None,
    fix: Fix | None = None,
    severity: Severity | None = None,
) -> Finding:
    """Return a finding in the document of a view, at the full path `path`."""
    if isinstance(where, views.RequestView):
        document = where.claim.document
    elif isinstance(where, (views.PodView, views.ClaimView, views.DeviceView, views.ExpressionView)):
        document = where.document
    else:
        document = where
    return Finding(document, path, message, hint, position, fix, severity)
