"""Certificates of one control plane, made at start (facts control-plane §3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

MASTERS: Final = "system:masters"
API_SERVER_NAMES: Final = (
    "127.0.0.1",
    "10.96.0.1",
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost")
_LIFETIME: Final = timedelta(days=365)
_CLOCK_SKEW: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate with its private key, both PEM."""

    certificate: bytes
    key: bytes

    def write(self, certificate: Path, key: Path) -> None:
        """Write both files, the key readable by its owner only."""
        certificate.write_bytes(self.certificate)
        write_secret(key, self.key)


class Authority:
    """A certificate authority living as long as one control plane; `now` dates every certificate."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("lab")
        usage = x509.KeyUsage(
            digital_signature=True,
            key_cert_sign=True,
            crl_sign=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            encipher_only=False,
            decipher_only=False,
        )
        builder = self._builder(self._name, self._key.public_key(), ca=True).add_extension(usage, critical=True)
        self.pair = Pair(_certificate_pem(builder.sign(self._key, hashes.SHA256())), _key_pem(self._key))

    def server(self, common_name: str, names: Sequence[str]) -> Pair:
        """Issue a serving certificate for these addresses and DNS names."""
        alternatives = x509.SubjectAlternativeName([_alternative(name) for name in names])
        return self._issue(_name(common_name), ExtendedKeyUsageOID.SERVER_AUTH, alternatives)

    def client(self, user: str, group: str) -> Pair:
        """Issue a client certificate for a user of one group."""
        return self._issue(_name(user, group), ExtendedKeyUsageOID.CLIENT_AUTH)

    def _issue(self, subject: x509.Name, use: ObjectIdentifier, *extensions: x509.ExtensionType) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(subject, key.public_key(), ca=False)
        for extension in (x509.ExtendedKeyUsage([use]), *extensions):
            builder = builder.add_extension(extension, critical=False)
        return Pair(_certificate_pem(builder.sign(self._key, hashes.SHA256())), _key_pem(key))

    def _builder(
        self, subject: x509.Name, public_key: ec.EllipticCurvePublicKey, *, ca: bool
    ) -> x509.CertificateBuilder:
        issuer_identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - _CLOCK_SKEW)
            .not_valid_after(self._now + _LIFETIME)
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
            .add_extension(issuer_identifier, critical=False)
        )


def service_account_keys() -> tuple[bytes, bytes]:
    """Return a fresh (private, public) PEM key pair that signs ServiceAccount tokens."""
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return _key_pem(key), public


def now() -> datetime:
    """Read the clock; the only place of this module's callers that does."""
    return datetime.now(UTC)


def write_secret(path: Path, content: bytes) -> None:
    """Write a file readable by its owner only."""
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_bytes(content)


def _name(common_name: str, organization: str | None = None) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
    if organization is not None:
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    return x509.Name(attributes)


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _certificate_pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
