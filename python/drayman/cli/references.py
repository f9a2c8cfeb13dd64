"""What claims lean on: their DeviceClasses are there, and the CEL selectors of both compile.

The allocator finds the same, but without the place in the files, and only on the way to an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from drayman import cel
from drayman.api import schema
from drayman.errors import CELCompileError, InputError

if TYPE_CHECKING:
    from drayman.cli.claims import Claim
    from drayman.manifest import Manifest

Object = Mapping[str, Any]


def check(claims: Sequence[Claim], classes: Mapping[str, Manifest]) -> None:
    """Raise :class:`InputError` for the first thing that the claims lean on and that does not stand.

    `classes` are the DeviceClasses by name.
    """
    used = {}
    for claim in claims:
        for path, request in _requests(claim.object.get("spec") or {}, claim.path):
            name = request.get("deviceClassName")
            if name and name not in classes:
                raise _missing_class(claim, f"{path}.deviceClassName", name, classes)
            if name:
                used[name] = classes[name]
            _compile(claim.source, f"{path}.selectors", request)
    for device_class in used.values():
        _compile(device_class, "spec.selectors", device_class.object.get("spec") or {})


def _requests(spec: Object, path: str) -> Iterator[tuple[str, Object]]:
    """Yield what asks for devices of a class: requests, and the alternatives of requests that have some."""
    for index, request in enumerate((spec.get("devices") or {}).get("requests") or []):
        at = f"{path}.devices.requests[{index}]"
        if request.get("exactly"):
            yield f"{at}.exactly", request["exactly"]
        for number, alternative in enumerate(request.get("firstAvailable") or []):
            yield f"{at}.firstAvailable[{number}]", alternative


def _compile(source: Manifest, path: str, holder: Object) -> None:
    for index, selector in enumerate(holder.get("selectors") or []):
        expression = (selector.get("cel") or {}).get("expression")
        if not expression:
            continue
        try:
            cel.compile(expression)
        except CELCompileError as error:
            raise _error(source, f"{path}[{index}].cel.expression", str(error)) from error


def _missing_class(claim: Claim, path: str, name: str, classes: Mapping[str, Manifest]) -> InputError:
    error = _error(claim.source, path, f"DeviceClass `{name}` is not in the given files")
    similar = schema.did_you_mean(name, list(classes))
    error.hint = f"did you mean `{similar}`?" if similar else "give it as a file, or with --with"
    return error


def _error(source: Manifest, path: str, message: str) -> InputError:
    return InputError(message, file=source.file, line=source.position(path).line, object=source.name, field=path)
