"""Who is who in a cluster of processes: an authority with its certificates, and a token for each user."""

from __future__ import annotations

import datetime as dt
import ipaddress
import json
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_LIFETIME = dt.timedelta(days=365)


class Authority:
    """A certificate authority that lives as long as its cluster; files are PEM, readable by their owner only."""

    def __init__(self, folder: Path, now: dt.datetime) -> None:
        self._folder = folder
        self._now = now
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "drayman")])
        builder = self._builder(self._name, self._key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.certificate = builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        self.path = folder / "ca.crt"
        self.path.write_bytes(self.certificate)

    def issue(
        self, file: str, common_name: str, *, organizations: Sequence[str] = (), hosts: Iterable[str] = ()
    ) -> tuple[Path, Path]:
        """Return the files of a new certificate and its key; with `hosts` for servers, else for clients."""
        key = ec.generate_private_key(ec.SECP256R1())
        parts = [x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, one) for one in organizations]
        subject = x509.Name([*parts, x509.NameAttribute(x509.NameOID.COMMON_NAME, common_name)])
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = self._builder(subject, key.public_key())
        if names := [_alternative_name(host) for host in hosts]:
            usages.append(ExtendedKeyUsageOID.SERVER_AUTH)
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        certificate = self._folder / f"{file}.crt"
        certificate.write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        return certificate, _write_key(self._folder / f"{file}.key", key)

    def signing_key(self, file: str) -> tuple[Path, Path]:
        """Return the files of a new public key and its private key, for the tokens of service accounts."""
        key = ec.generate_private_key(ec.SECP256R1())
        public = self._folder / f"{file}.pub"
        public.write_bytes(
            key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        )
        return public, _write_key(self._folder / f"{file}.key", key)

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - dt.timedelta(days=1))
            .not_valid_after(self._now + _LIFETIME)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )


@dataclass(slots=True)
class Tokens:
    """The users of the API server with the tokens that prove who they are."""

    _users: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)

    def add(self, user: str, *groups: str) -> str:
        """Return the token of `user`, who is made known with `groups`."""
        token, _ = self._users.setdefault(user, (secrets.token_urlsafe(24), groups))
        return token

    def write(self, path: Path) -> None:
        """Write the file for `--token-auth-file`."""
        path.touch(mode=0o600)
        lines = (
            f"{token},{user},{user}" + (f",{json.dumps(','.join(groups))}" if groups else "")
            for user, (token, groups) in self._users.items()
        )
        path.write_text("".join(f"{line}\n" for line in lines))


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> Path:
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return path


def _alternative_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
