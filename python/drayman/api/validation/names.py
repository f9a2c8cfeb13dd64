"""Formats of names and labels. Each function returns what is wrong with a text, in the API server's words, or nothing.

Source: apimachinery's `pkg/api/validate/content`.
"""

from __future__ import annotations

import re

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_CASELESS_RULE = (
    "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_KEY_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_VALUE = f"({_KEY})?"
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_IDENTIFIER_RULE = (
    "a valid C identifier must start with alphabetic character or '_', "
    "followed by a string of alphanumeric characters or '_'"
)
_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_REASON_RULE = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_'"
)
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SEMVER = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?"
)


def size(text: str) -> int:
    """Return the length in bytes, which is what the API limits."""
    return len(text.encode("utf-8", "surrogatepass"))


def mismatch(rule: str, pattern: str, *examples: str) -> str:
    """Return the text for a value that does not match `pattern`."""
    shown = "  or ".join(f"'{example}'," for example in examples)  # upstream joins twice
    return f"{rule} (e.g. {shown} regex used for validation is '{pattern}')"


def _too_long(text: str, limit: int) -> list[str]:
    return [f"must be no more than {limit} bytes"] if size(text) > limit else []


def dns_label(text: str) -> list[str]:
    """Check a DNS label, such as the name of a container or a device."""
    problems = _too_long(text, 63)
    if re.fullmatch(_LABEL, text):
        return problems
    if re.fullmatch(_SUBDOMAIN, text):
        return [*problems, "must not contain dots"]
    return [*problems, mismatch(_LABEL_RULE, _LABEL, "my-name", "123-abc")]


def dns_subdomain(text: str) -> list[str]:
    """Check a DNS subdomain, such as the name of a pod or a driver."""
    problems = _too_long(text, 253)
    if re.fullmatch(_SUBDOMAIN, text):
        return problems
    return [*problems, mismatch(_SUBDOMAIN_RULE, _SUBDOMAIN, "example.com")]


def dns_subdomain_caseless(text: str) -> list[str]:
    """Check a DNS subdomain that may have upper case letters."""
    problems = _too_long(text, 253)
    if re.fullmatch(_SUBDOMAIN, text, re.IGNORECASE | re.ASCII):
        return problems
    return [*problems, mismatch(_CASELESS_RULE, _SUBDOMAIN, "Example.com")]


def label_key(text: str) -> list[str]:
    """Check the key of a label, an annotation or a taint; also called a qualified name."""
    parts = text.split("/")
    if len(parts) > 2:
        rule = mismatch(_KEY_RULE, _KEY, "MyName", "my.name", "123-abc")
        return [f"a valid label key {rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    problems = []
    if len(parts) == 2:
        prefix = ["must be non-empty"] if not parts[0] else dns_subdomain(parts[0])
        problems = [f"prefix part {problem}" for problem in prefix]
    name = parts[-1]
    if not name:
        problems.append("name part must be non-empty")
    problems += [f"name part {problem}" for problem in _too_long(name, 63)]
    if not re.fullmatch(_KEY, name):
        problems.append(f"name part {mismatch(_KEY_RULE, _KEY, 'MyName', 'my.name', '123-abc')}")
    return problems


def label_value(text: str) -> list[str]:
    """Check the value of a label or a taint; it may be empty."""
    problems = _too_long(text, 63)
    if re.fullmatch(_VALUE, text):
        return problems
    return [*problems, mismatch(_VALUE_RULE, _VALUE, "MyValue", "my_value", "12345")]


def c_identifier(text: str) -> list[str]:
    """Check the name of an attribute or a capacity, without its domain."""
    if re.fullmatch(_IDENTIFIER, text):
        return []
    return [mismatch(_IDENTIFIER_RULE, _IDENTIFIER, "my_name", "MY_NAME", "MyName")]


def condition_reason(text: str) -> list[str]:
    """Check the reason of a condition."""
    if re.fullmatch(_REASON, text):
        return []
    return [mismatch(_REASON_RULE, _REASON, "my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB")]


def uuid(text: str) -> list[str]:
    """Check a share ID."""
    return [] if _UUID.fullmatch(text) else ["must be a lowercase UUID in 8-4-4-4-12 format"]


def semver(text: str) -> list[str]:
    """Check the version of a device attribute."""
    return [] if _SEMVER.fullmatch(text) else ["must be a string compatible with semver.org spec 2.0.0"]
