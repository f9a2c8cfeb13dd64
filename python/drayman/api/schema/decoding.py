"""The API server's strict decoding: Go's JSON decoder, as forked by `sigs.k8s.io/json`, over the table of types."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from drayman.api import gotext
from drayman.api.schema import table
from drayman.errors import InputError
from drayman.quantity import Quantity
from drayman.timestamps import parse_rfc3339, rfc3339_micro

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping

_MAX_STRICT_ERRORS = 100
_KEPT_EMPTY = frozenset({"containers", "nodeSelectorTerms", "rules", "subsets", "firstAvailable"})
"""Lists that Go's types write also when they are empty, or that validation tells from missing ones."""

_INTEGERS = {"int32": 2**31, "int64": 2**63}


@dataclass(frozen=True, slots=True)
class DecodingError:
    """Why an object is not one of its kind: `str()` is the decoder's text, `field` the path with list indices.

    `fatal` errors (wrong types) are refused in every mode of field validation, the others (unknown fields) only when it
    is strict.
    """

    field: str
    message: str
    fatal: bool = False

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class Decoded:
    """An object without the fields that its kind does not have, and what was wrong with it in the object's order."""

    object: dict[str, Any]
    errors: tuple[DecodingError, ...] = ()

    @property
    def fatal(self) -> DecodingError | None:
        """The wrong type for which the whole object is refused."""
        return next((error for error in self.errors if error.fatal), None)


def strict(obj: Mapping[str, Any]) -> list[DecodingError]:
    """Return what strict decoding says against `obj`: one fatal error, or any number of unknown fields."""
    decoded = decode(obj)
    return [decoded.fatal] if decoded.fatal else list(decoded.errors)


def decode(obj: Mapping[str, Any]) -> Decoded:
    """Decode `obj` as the kind that it says it is; an object of a kind that is not built in comes back as it is."""
    name = table.type_of_object(obj)
    if name is None:
        return Decoded(dict(obj))
    decoder = _Decoder()
    try:
        value = decoder.struct(dict(obj), name, _Place())
    except _CustomDecodingError as error:
        return Decoded(dict(obj), (error.error,))
    return Decoded(value, tuple(decoder.errors))


class _CustomDecodingError(Exception):
    """A type's own decoder refused a value: decoding ends at once, as in Go."""

    def __init__(self, error: DecodingError) -> None:
        super().__init__(error.message)
        self.error = error


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the decoder is: the path as unknown fields are reported, and Go's name for it in type errors."""

    path: str = ""
    go_struct: str = ""
    go_fields: tuple[str, ...] = ()

    def field(self, name: str, struct: str) -> _Place:
        return _Place(self.below(name), struct.rpartition(".")[2], (*self.go_fields, name))

    def key(self, name: str) -> _Place:
        return _Place(self.below(name), self.go_struct, self.go_fields)

    def index(self, position: int) -> _Place:
        return _Place(f"{self.path}[{position}]", self.go_struct, self.go_fields)

    def below(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def mistyped(self, value: str, go_type: str) -> DecodingError:
        where = f"struct field {self.go_struct}.{'.'.join(self.go_fields)}" if self.go_struct else "value"
        return DecodingError(self.path, f"json: cannot unmarshal {value} into Go {where} of type {go_type}", fatal=True)


def _go_type(kind: str) -> str:
    if kind.startswith("[]"):
        return "[]" + _go_type(kind[2:])
    if kind.startswith("map[string]"):
        return "map[string]" + _go_type(kind[len("map[string]") :])
    special = {"quantity": "resource.Quantity", "bytes": "[]uint8", "intOrString": "intstr.IntOrString"}
    return special.get(kind, ".".join(kind.split(".")[-2:]))


def _json_type(value: Any) -> str:
    """Return what Go's decoder calls a JSON value in its errors."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, dict) else "number"


@dataclass(slots=True)
class _Decoder:
    errors: list[DecodingError] = field(default_factory=list)

    def struct(self, value: dict[str, Any], name: str, place: _Place) -> dict[str, Any]:
        known = table.types()[name]
        decoded = {}
        # In the order of the names, as kubectl and every other client in Go sends them.
        for key, item in sorted(value.items()):
            if key in known and item is not None:
                result = self.value(item, known[key], place.field(key, name))
                if result or key in _KEPT_EMPTY or not known[key].startswith(("[]", "map[")):
                    decoded[key] = result
            elif key not in known:
                self._unknown(place.below(key))
        return decoded

    def value(self, value: Any, kind: str, place: _Place) -> Any:
        if value is None:
            return _zero(kind)
        if kind == "any":
            return value
        if kind.startswith("[]"):
            if isinstance(value, list):
                return [self.value(item, kind[2:], place.index(index)) for index, item in enumerate(value)]
            return self._mistyped(value, kind, place)
        if kind.startswith("map[string]"):
            if isinstance(value, dict):
                element = kind[len("map[string]") :]
                return {key: self.value(item, element, place.key(key)) for key, item in value.items()}
            return self._mistyped(value, kind, place)
        if kind in table.types():
            return self.struct(value, kind, place) if isinstance(value, dict) else self._mistyped(value, kind, place)
        return self._scalar(value, kind, place)

    def _scalar(self, value: Any, kind: str, place: _Place) -> Any:
        match kind:
            case "string":
                fits = isinstance(value, str)
            case "bool":
                fits = isinstance(value, bool)
            case "float64":
                fits = isinstance(value, int | float) and not isinstance(value, bool)
            case "int32" | "int64":
                return self._integer(value, kind, place)
            case "intOrString":
                return value if isinstance(value, str) else self._integer(value, "int32", place)
            case "quantity":
                return _quantity(value, place)
            case "microTime":
                return _micro_time(value, place)
            case "time":
                return _time(value, place)
            case _:
                return self._bytes(value, place)
        return value if fits else self._mistyped(value, kind, place)

    def _integer(self, value: Any, kind: str, place: _Place) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return self._mistyped(value, kind, place)
        limit = _INTEGERS[kind]
        if isinstance(value, float) or not -limit <= value < limit:
            self.errors.append(place.mistyped(f"number {gotext.marshal(value)}", kind))
        return value

    def _bytes(self, value: Any, place: _Place) -> Any:
        if not isinstance(value, str):
            return self._mistyped(value, "bytes", place)
        try:
            base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)
        except binascii.Error:
            valid = re.match(r"[A-Za-z0-9+/]*", value)
            offset = valid.end() if valid else 0
            message = f"illegal base64 data at input byte {offset}"
            self.errors.append(DecodingError(place.path, message, fatal=True))
        return value

    def _mistyped(self, value: Any, kind: str, place: _Place) -> Any:
        self.errors.append(place.mistyped(_json_type(value), _go_type(kind)))
        return value

    def _unknown(self, path: str) -> None:
        if len(self.errors) < _MAX_STRICT_ERRORS:
            self.errors.append(DecodingError(path, f"unknown field {gotext.quote(path)}"))


def _zero(kind: str) -> Any:
    """Return what Go keeps in a list or map for null."""
    if kind in table.types():
        return {}
    return {"string": "", "bool": False, "int32": 0, "int64": 0, "float64": 0, "quantity": "0"}.get(kind)


def _quantity(value: Any, place: _Place) -> Any:
    """Return the quantity as the API server stores and prints it."""
    text = value.strip() if isinstance(value, str) else gotext.marshal(value)
    try:
        return str(Quantity(text))
    except InputError as error:
        raise _CustomDecodingError(DecodingError(place.path, error.message, fatal=True)) from error


def _time(value: Any, place: _Place) -> Any:
    _parsed_time(value, place, "2006-01-02T15:04:05Z07:00")
    return value


def _micro_time(value: Any, place: _Place) -> str:
    """Return a time in UTC; written, it has to have six digits behind the point."""
    layout = "2006-01-02T15:04:05.000000Z07:00"
    parsed = _parsed_time(value, place, layout)
    rest = value[len("2006-01-02T15:04:05") :]
    if not re.match(r"\.\d{6}", rest, re.ASCII):
        raise _wrong_time(value, place, layout, rest, ".000000")
    if rest[7:8].isdigit():
        raise _wrong_time(value, place, layout, rest[7:], "Z07:00")
    return rfc3339_micro(parsed)


def _parsed_time(value: Any, place: _Place, layout: str) -> dt.datetime:
    if not isinstance(value, str):
        raise _CustomDecodingError(place.mistyped(_json_type(value), "string"))
    try:
        return parse_rfc3339(value)
    except ValueError as error:
        raise _wrong_time(value, place, layout, value, "2006") from error


def _wrong_time(value: str, place: _Place, layout: str, part: str, wanted: str) -> _CustomDecodingError:
    message = f'parsing time {gotext.quote(value)} as "{layout}": cannot parse {gotext.quote(part)} as "{wanted}"'
    return _CustomDecodingError(DecodingError(place.path, message, fatal=True))
