"""A self-signed certificate for a server on a loopback address, made without a library.

kubectl sends its token over TLS only, so that even a fake cluster on 127.0.0.1 needs a certificate. The key signs
this one certificate and is thrown away with the server; the arithmetic (ECDSA on P-256, FIPS 186-5) does not try to
hide its timing.
"""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import ipaddress
import secrets
from dataclasses import dataclass, field

_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
_LIFETIME = dt.timedelta(days=3650)

_Point = tuple[int, int] | None

_EC_PUBLIC_KEY = "1.2.840.10045.2.1"
_P256 = "1.2.840.10045.3.1.7"
_ECDSA_SHA256 = "1.2.840.10045.4.3.2"
_COMMON_NAME = "2.5.4.3"
_SUBJECT_KEY_ID, _KEY_USAGE, _ALT_NAMES, _CONSTRAINTS, _AUTHORITY_KEY_ID, _EXTENDED_USAGE = (
    f"2.5.29.{number}" for number in (14, 15, 17, 19, 35, 37)
)
_SERVER_AUTH = "1.3.6.1.5.5.7.3.1"


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate and its private key, both PEM. Clients trust it by taking the certificate as their authority."""

    certificate: bytes
    key: bytes = field(repr=False)


def self_signed(host: str, now: dt.datetime) -> Certificate:
    """Return a new certificate for `host`, an IP address or a name, valid from a day before `now`."""
    private = 1 + secrets.randbelow(_N - 1)
    point = _multiply(private, _G)
    assert point is not None
    public = b"\x04" + _bytes(point[0]) + _bytes(point[1])
    body = _to_be_signed(host, public, now)
    algorithm = _sequence(_oid(_ECDSA_SHA256))
    certificate = _sequence(body, algorithm, _bits(_sign(private, body)))
    key = _sequence(_integer(1), _tagged(4, _bytes(private)), _tagged(0xA0, _oid(_P256)), _tagged(0xA1, _bits(public)))
    return Certificate(_pem("CERTIFICATE", certificate), _pem("EC PRIVATE KEY", key))


def _to_be_signed(host: str, public: bytes, now: dt.datetime) -> bytes:
    name = _sequence(_tagged(0x31, _sequence(_oid(_COMMON_NAME), _tagged(0x0C, b"drayman"))))
    validity = _sequence(_time(now - dt.timedelta(days=1)), _time(now + _LIFETIME))
    key_info = _sequence(_sequence(_oid(_EC_PUBLIC_KEY), _oid(_P256)), _bits(public))
    key_id = hashlib.sha256(public).digest()[:20]
    extensions = _sequence(
        _extension(_SUBJECT_KEY_ID, _tagged(4, key_id)),
        _extension(_AUTHORITY_KEY_ID, _sequence(_tagged(0x80, key_id))),
        _extension(_CONSTRAINTS, _sequence(_tagged(1, b"\xff")), critical=True),
        # digitalSignature and keyCertSign: it is its own authority.
        _extension(_KEY_USAGE, _tagged(3, b"\x02\x84"), critical=True),
        _extension(_EXTENDED_USAGE, _sequence(_oid(_SERVER_AUTH))),
        _extension(_ALT_NAMES, _sequence(*_alternative_names(host))),
    )
    return _sequence(
        _tagged(0xA0, _integer(2)),
        _integer(1 + secrets.randbits(120)),
        _sequence(_oid(_ECDSA_SHA256)),
        name,
        validity,
        name,
        key_info,
        _tagged(0xA3, extensions),
    )


def _alternative_names(host: str) -> list[bytes]:
    names = [_tagged(0x82, b"localhost")]
    try:
        return [*names, _tagged(0x87, ipaddress.ip_address(host).packed)]
    except ValueError:
        return [*names, _tagged(0x82, host.encode())] if host != "localhost" else names


def _extension(oid: str, value: bytes, *, critical: bool = False) -> bytes:
    return _sequence(_oid(oid), _tagged(1, b"\xff") if critical else b"", _tagged(4, value))


def _sign(private: int, message: bytes) -> bytes:
    digest = int.from_bytes(hashlib.sha256(message).digest())
    while True:
        nonce = 1 + secrets.randbelow(_N - 1)
        point = _multiply(nonce, _G)
        r = point[0] % _N if point else 0
        s = pow(nonce, -1, _N) * (digest + r * private) % _N
        if r and s:
            return _sequence(_integer(r), _integer(s))


def _add(left: _Point, right: _Point) -> _Point:
    if left is None or right is None:
        return left or right
    (x1, y1), (x2, y2) = left, right
    if x1 == x2 and (y1 + y2) % _P == 0:
        return None
    # The curve is y² = x³ - 3x + b; the slope of the chord, or of the tangent where both points are one.
    slope = 3 * (x1 * x1 - 1) * pow(2 * y1, -1, _P) if left == right else (y2 - y1) * pow(x2 - x1, -1, _P)
    x = (slope * slope - x1 - x2) % _P
    return x, (slope * (x1 - x) - y1) % _P


def _multiply(factor: int, point: _Point) -> _Point:
    result: _Point = None
    while factor:
        if factor & 1:
            result = _add(result, point)
        point = _add(point, point)
        factor >>= 1
    return result


def _bytes(number: int) -> bytes:
    return number.to_bytes(32)


def _tagged(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes((tag, size)) + content
    length = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes((tag, 0x80 | len(length))) + length + content


def _sequence(*items: bytes) -> bytes:
    return _tagged(0x30, b"".join(items))


def _integer(value: int) -> bytes:
    return _tagged(2, value.to_bytes(value.bit_length() // 8 + 1))


def _bits(content: bytes) -> bytes:
    return _tagged(3, b"\x00" + content)


def _time(moment: dt.datetime) -> bytes:
    if moment.year < 2050:
        return _tagged(0x17, moment.strftime("%y%m%d%H%M%SZ").encode())
    return _tagged(0x18, moment.strftime("%Y%m%d%H%M%SZ").encode())


def _oid(dotted: str) -> bytes:
    first, second, *rest = (int(part) for part in dotted.split("."))
    content = bytes((40 * first + second,))
    for part in rest:
        digits = [part & 0x7F]
        while part := part >> 7:
            digits.append(0x80 | (part & 0x7F))
        content += bytes(reversed(digits))
    return _tagged(6, content)


def _pem(label: str, content: bytes) -> bytes:
    text = base64.encodebytes(content).replace(b"\n", b"")
    lines = [text[start : start + 64] for start in range(0, len(text), 64)]
    return b"\n".join([f"-----BEGIN {label}-----".encode(), *lines, f"-----END {label}-----".encode(), b""])
