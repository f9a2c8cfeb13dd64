"""One CEL expression under lint, with all that rules ask about it: what it looks up, and what is published."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from drayman import cel
from drayman.errors import CELCompileError, CELRuntimeError
from drayman.lint import drivers
from drayman.lint.diagnostic import Edit, Fix, Severity
from drayman.lint.drivers import Name
from drayman.lint.facts import Fact, facts
from drayman.lint.rule import Finding

if TYPE_CHECKING:
    from drayman.inspection import Inspection, Span
    from drayman.lint.context import Context
    from drayman.lint.drivers import Kind
    from drayman.lint.views import DeviceView, ExpressionView

SCALARS = ("bool", "int", "string", "version")
LISTS = ("bools", "ints", "strings", "versions")
SUFFIXES = frozenset({*SCALARS, *LISTS, "quantity", "value"})
"""What stands below the name of an attribute or capacity in a ResourceSlice, and has no place in CEL."""

NO_VALUE = "optional.none() dereference"
"""The error of `.?name.value()` where there is none."""

STANDARD = "resource.kubernetes.io"
"""The domain of the attributes that Kubernetes itself defines."""
_STANDARD_MISNAMED = frozenset({"kubernetes.io", "k8s.io", "resource.k8s.io"})
"""What is written for that domain."""

_NO_KEY = re.compile(r"no such key: (.*?)(?:\. consider|$)")
_NEAR = 0.8
"""How alike a name has to be to one that exists, to be taken for a mistake when nothing else speaks for it."""


@dataclass(eq=False)
class Look:
    """An expression. Names are those of the catalogue where no ResourceSlices are given."""

    context: Context
    view: ExpressionView
    _published: dict[int, Mapping[Name, str]]
    _together: dict[int, tuple[Sequence[DeviceView], frozenset[Name]]]
    """What the devices of a sequence have together, by its identity: looks at one class share theirs."""

    @property
    def text(self) -> str:
        """The expression."""
        return self.view.text

    @cached_property
    def inspection(self) -> Inspection:
        """What is told from the text alone."""
        return cel.inspect(self.text)

    @cached_property
    def refusal(self) -> CELCompileError | None:
        """Why the API server refuses the expression, or None when it compiles."""
        try:
            cel.compile(self.text, "new", gates=self.context.gates)
        except CELCompileError as error:
            return error
        return None

    def said(self, span: Span) -> str | None:
        """Return what the API server says of a piece, or of the comparison or call that the piece is part of."""
        if self.refusal is None:
            return None
        wholes = [(one.span.start, one.span.end) for one in self.inspection.comparisons]
        wholes += [(one.access.span.start, one.span.end) for one in self.inspection.members]
        around = [(start, end) for start, end in wholes if start <= span.start and span.end <= end]
        for start, end in ((span.start, span.end), *sorted(around, key=lambda one: one[1] - one[0])):
            for line, column, text in self.refusal.issues:
                if start <= offset(self.text, line, column) < end:
                    return text
        return None

    @property
    def first_said(self) -> str | None:
        """What the API server says of the expression first: of syntax it says nothing else that is of use."""
        if self.refusal is None:
            return None
        return self.refusal.issues[0][2] if self.refusal.issues else str(self.refusal)

    @cached_property
    def devices(self) -> Sequence[DeviceView]:
        """The given devices on which the expression is evaluated; empty when that is not known."""
        found = self.context.devices_of(self.view)
        if not found or self.view.request is not None:
            return found or ()
        selectors = (self.view.document.object.get("spec") or {}).get("selectors") or ()
        for index, selector in enumerate(selectors):
            if self.view.path == f"spec.selectors[{index}].cel.expression":
                break
            answers = self.context.answers((selector.get("cel") or {}).get("expression", ""), found)
            found = [device for device, answer in zip(found, answers or (), strict=False) if answer is True]
        return found

    @cached_property
    def answers(self) -> Mapping[int, bool | CELRuntimeError]:
        """What the expression says of each of :attr:`devices`, by its place; empty when it does not compile."""
        if self.view.kind != "selector":
            return {}
        return dict(enumerate(self.context.answers(self.text, self.devices) or ()))

    @cached_property
    def failures(self) -> list[tuple[DeviceView, CELRuntimeError]]:
        """The devices on which the evaluation fails."""
        answers = self.answers.items()
        return [(self.devices[index], answer) for index, answer in answers if isinstance(answer, CELRuntimeError)]

    def lacks(self, name: Name) -> list[DeviceView]:
        """Return the devices on which the evaluation fails because they lack `name`."""
        return [
            device
            for device, error in self.failures
            if (self.missing_key(error) is not None or NO_VALUE in str(error)) and name not in self.published_by(device)
        ]

    def missing_key(self, error: CELRuntimeError) -> str | None:
        """Return the key that an evaluation failed for want of, or None when it failed otherwise."""
        found = _NO_KEY.search(str(error))
        return found[1] if found else None

    def published_by(self, device: DeviceView) -> Mapping[Name, str]:
        """Return what a device has, with the types."""
        if id(device) not in self._published:
            self._published[id(device)] = _published_by(device)
        return self._published[id(device)]

    @cached_property
    def class_name(self) -> str:
        """The DeviceClass whose devices are selected from; empty in a DeviceClass itself."""
        return self.view.request.device_class if self.view.request else ""

    @cached_property
    def kinds(self) -> Sequence[Kind]:
        """What the catalogue knows of the devices of the class; empty when slices are given or the class is another."""
        if self.context.devices:
            return ()
        found = drivers.of_class(self.class_name)
        if found is not None and self.context.find("DeviceClass", self.class_name) is None:
            return [found[1]]
        driver = drivers.known().get(self.driver or "")
        return list(driver.kinds.values()) if driver else ()

    @cached_property
    def driver(self) -> str | None:
        """The driver of the devices, when it can only be one."""
        names = {device.driver for device in self.devices} or set(self._drivers_asked_for())
        if not names and (found := drivers.of_class(self.class_name)) is not None:
            names = {found[0].name}
        if not names:
            names = {device.driver for device in self.context.devices}
        return next(iter(names)) if len(names) == 1 else None

    def _drivers_asked_for(self) -> Iterator[str]:
        for fact in self.facts:
            if fact.subject == "device.driver" and fact.comparison.operator == "==":
                yield str(fact.values[0])

    @cached_property
    def facts(self) -> Sequence[Fact]:
        """What has to be true of a device that is selected: of the class and the selectors before this one, too."""
        return [*self.facts_before, *facts(self.inspection)]

    @cached_property
    def facts_before(self) -> Sequence[Fact]:
        """The facts of the class and of the selectors before this one."""
        found: list[Fact] = []
        for text in self._texts_before():
            found += facts(cel.inspect(text))
        return found

    def _texts_before(self) -> Iterator[str]:
        request = self.view.request
        if request is None:
            yield from self._before((self.view.document.object.get("spec") or {}).get("selectors") or (), "spec")
            return
        found = self.context.find("DeviceClass", self.class_name)
        if found is not None and found.readable:
            yield from self._before((found.object.get("spec") or {}).get("selectors") or (), None)
        elif (catalogued := drivers.of_class(self.class_name)) is not None:
            yield f"device.driver == '{catalogued[0].name}'"
        yield from self._before(request.fields.get("selectors") or (), request.path)

    def _before(self, selectors: Sequence[Mapping[str, Mapping[str, str]]], path: str | None) -> Iterator[str]:
        for index, selector in enumerate(selectors):
            if path is not None and self.view.path == f"{path}.selectors[{index}].cel.expression":
                return
            yield (selector.get("cel") or {}).get("expression", "")

    @cached_property
    def pool(self) -> Sequence[DeviceView]:
        """The devices that tell what is published: those that are selected from, or else all that are given."""
        return self.devices or self.context.devices

    @cached_property
    def published(self) -> frozenset[Name]:
        """All attributes and capacities that the devices can have."""
        if self.pool:
            if id(self.pool) not in self._together:
                names = frozenset(name for device in self.pool for name in self.published_by(device))
                self._together[id(self.pool)] = (self.pool, names)
            return self._together[id(self.pool)][1]
        kinds = self.kinds or [kind for driver in drivers.known().values() for kind in driver.kinds.values()]
        return frozenset(name for kind in kinds for name in kind.published)

    @cached_property
    def domains(self) -> frozenset[str]:
        """All domains and drivers that are known."""
        return frozenset({one.domain for one in self.published} | {device.driver for device in self.pool})

    def domain_meant(self, text: str) -> str | None:
        """Return the domain for which the name of something else stands: of a DeviceClass, a resource, the API."""
        if text in _STANDARD_MISNAMED:
            return STANDARD
        names = {device.driver for device in self.pool} or ({self.driver} if self.driver else set(drivers.known()))
        return drivers.meant(text, names - {text})

    def types(self, name: Name) -> set[str]:
        """Return the types that an attribute is published with, `quantity` of a capacity; empty when not known."""
        if name not in self._types:
            self._types[name] = self._find_types(name)
        return self._types[name]

    @cached_property
    def _types(self) -> dict[Name, set[str]]:
        return {}

    def _find_types(self, name: Name) -> set[str]:
        if name.section == "capacity":
            return {"quantity"}
        found = {self.published_by(device).get(name, "") for device in self.pool} - {""}
        if not found and not self.pool:
            kinds = self.kinds or [kind for one in drivers.known().values() for kind in one.kinds.values()]
            found = {kind.published[name].type for kind in kinds if name in kind.published}
        return found - {"any", ""}

    def finding(
        self,
        span: Span | None,
        message: str,
        hint: str | None = None,
        *,
        fix: Mapping[Span, str] | None = None,
        safe: bool = True,
        severity: Severity | None = None,
        said: str | None = None,
    ) -> Finding:
        """Return a finding about a piece of the expression, or about all of it.

        `fix` says what to write for which pieces, `said` what the API server says of them.
        """
        document, path = self.view.document, self.view.document.written_path(self.view.path)
        start, end = (span.start, span.end) if span else self._first_line()
        position = document.position_within(path, start, end)
        edits = self._fix(fix, safe=safe) if fix else None
        if said is not None:
            message += f"; the API server says: {said}"
        return Finding(document, self.view.path, message, hint, position, edits, severity, said)

    def _first_line(self) -> tuple[int, int]:
        text = self.text.lstrip()
        start = len(self.text) - len(text)
        return start, start + len(text.partition("\n")[0].rstrip())

    def _fix(self, pieces: Mapping[Span, str], *, safe: bool) -> Fix | None:
        """Return the edits, or None where the expression is written in a way that has no place for them."""
        document = self.view.document
        path = document.written_path(self.view.path)
        tree = document.tree(path)
        if tree is None or document.source is None:
            return None
        quote = document.source.slice(tree.content)[:1]
        edits = []
        for span, text in pieces.items():
            position = document.position_within(path, span.start, span.end)
            written = _in_scalar(text, quote)
            if written is None or position == document.position(path):
                return None
            edits.append(Edit(position, written))
        return Fix(tuple(edits), safe)


def _in_scalar(text: str, quote: str) -> str | None:
    """Return how `text` is written in a YAML scalar that begins with `quote`."""
    if quote == "'":
        return text.replace("'", "''")
    if quote == '"':
        return text.replace("\\", "\\\\").replace('"', '\\"')
    if quote in ("|", ">"):
        return text
    return None if "#" in text or ": " in text else text


def offset(expression: str, line: int, column: int) -> int:
    """Return the offset of a place in an expression; line and column are 1-based."""
    lines = expression.split("\n")
    return sum(len(one) + 1 for one in lines[: line - 1]) + column - 1


def _published_by(device: DeviceView) -> Mapping[Name, str]:
    found: dict[Name, str] = {}
    for qualified, attribute in (device.fields.get("attributes") or {}).items():
        domain, _, name = qualified.rpartition("/")
        kind = next((one for one in (*LISTS, *SCALARS) if attribute.get(one) is not None), "")
        found[Name("attributes", domain or device.driver, name)] = kind
    for qualified in device.fields.get("capacity") or {}:
        domain, _, name = qualified.rpartition("/")
        found[Name("capacity", domain or device.driver, name)] = "quantity"
    return found


def value_of(device: DeviceView, name: Name) -> str | None:
    """Return the value of an attribute or capacity as it is published, or None when the device does not have it."""
    published = device.fields.get(name.section) or {}
    found = published.get(f"{name.domain}/{name.name}")
    if found is None and name.domain == device.driver:
        found = published.get(name.name)
    if found is None:
        return None
    value = next((found[one] for one in (*LISTS, *SCALARS, "value") if found.get(one) is not None), "")
    return str(value).lower() if isinstance(value, bool) else str(value)


def similar(name: str, names: Collection[str], cutoff: float = _NEAR) -> str | None:
    """Return the one of `names` that `name` was meant to be, or None. Case does not count."""
    by_lower = {one.lower(): one for one in sorted(names) if one != name}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=cutoff)
    return by_lower[near[0]] if near else None
