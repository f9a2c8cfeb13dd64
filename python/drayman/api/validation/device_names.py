"""Names that occur in `resource.k8s.io`: drivers, pools, devices, attributes and capacities.

Each rule exists as upstream wrote it by hand and, where the field has one, in the words of the generated rule.
"""

from __future__ import annotations

from drayman.api.field import FieldError, Path, invalid, required, too_long
from drayman.api.validation import names
from drayman.api.validation.rules import Errors, declared, matching, required_matching

MAX_KEY = 63 + 1 + 32
"""Longest name of an attribute or capacity: domain, slash, identifier."""


def device_name(path: Path, name: str) -> Errors:
    """The name of a device."""
    yield from matching(path, name, names.dns_label)


def driver_name(path: Path, name: str) -> Errors:
    """The name of a driver, in which upper case letters are accepted."""
    if not name:
        yield required(path)
        return
    if names.size(name) > 63:
        yield too_long(path, 63)
    for problem in names.dns_subdomain(name.lower()):
        yield invalid(path, name, problem)


def declared_driver_name(path: Path, name: str) -> Errors:
    """The name of a driver, by the generated rule."""
    yield from declared(required_matching(path, name, names.dns_subdomain_caseless))
    if len(name) > 63:
        yield from declared(
            [FieldError("FieldValueTooLong", str(path), "<value omitted>", "may not be more than 63 characters")]
        )


def pool_name(path: Path, name: str) -> Errors:
    """The name of a pool: subdomains separated by slashes."""
    if not name:
        yield required(path)
        return
    if names.size(name) > 253:
        yield too_long(path, 253)
    for part in name.split("/"):
        yield from matching(path, part, names.dns_subdomain)


def declared_pool_name(path: Path, name: str) -> Errors:
    """The name of a pool, by the generated rule."""
    yield from declared(_declared_pool_name(path, name))


def _declared_pool_name(path: Path, name: str) -> Errors:
    if not name:
        yield required(path)
        return
    if names.size(name) > 253:
        yield too_long(path, 253)
    for index, part in enumerate(name.split("/")):
        if not part:
            yield invalid(path, name, f"segment {index}: must not be empty")
        for problem in names.dns_subdomain(part) if part else ():
            yield invalid(path, part, f"segment {index}: {problem}")


def attribute_name(path: Path, name: str) -> Errors:
    """The name of an attribute or capacity, with or without a domain.

    Upstream accepts names with more than one slash, whatever stands in them.
    """
    domain, slash, identifier = name.rpartition("/")
    if "/" in domain:
        return
    if slash and not domain:
        yield invalid(path, "", "the domain must not be empty")
    elif slash:
        yield from driver_name(path, domain)
    if slash and not identifier:
        yield invalid(path, "", "the name must not be empty")
    else:
        yield from _identifier(path, identifier)


def declared_qualified_name(path: Path, name: str) -> Errors:
    """The name of an attribute that must have a domain, by the generated rule."""
    yield from declared(_qualified_name(path, name))


def _qualified_name(path: Path, name: str) -> Errors:
    domain, slash, identifier = name.rpartition("/")
    if "/" not in domain:
        if slash and not domain:
            yield invalid(path, "", "prefix must not be empty")
        elif slash:
            if names.size(domain) > 63:
                yield too_long(path, 63)
            for problem in names.dns_subdomain(domain):
                yield invalid(path, domain, f"prefix: {problem}")
        if slash and not identifier:
            yield invalid(path, "", "name must not be empty")
        else:
            yield from _identifier(path, identifier)
    if not slash:
        yield invalid(path, name, "a fully qualified name must be a domain and a name separated by a slash")


def _identifier(path: Path, identifier: str) -> Errors:
    if names.size(identifier) > 32:
        yield too_long(path, 32)
    yield from matching(path, identifier, names.c_identifier)


def declared_extended_resource_name(path: Path, name: str) -> Errors:
    """The name of an extended resource, by the generated rule."""
    yield from declared(_extended_resource_name(path, name))


def _extended_resource_name(path: Path, name: str) -> Errors:
    if "/" not in name:
        yield invalid(path, name, "a name must be a domain-prefixed path, such as 'example.com/my-prop'")
    elif "kubernetes.io/" in name:
        yield invalid(path, name, 'must not have "kubernetes.io/" domain')
    if name.startswith("requests."):
        yield invalid(path, name, 'must not have "requests." prefix')
    for problem in names.label_key(f"requests.{name}"):
        yield invalid(path, name, problem)
