"""The webhook's certificate: made, judged, and replaced in steps of which none makes a call fail.

Each generation has an authority of its own whose key signs one certificate and is then forgotten. A rotation stages
the next certificate while its authority is already trusted, promotes it once every API server has learnt that, and
drops the old authority once every replica serves the new certificate. Everything here is given the time and the keys.
"""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from modeldeployment.admission.errors import CertificateError

_BACKDATED: Final = timedelta(minutes=5)  # the API server's clock may be behind ours


@dataclass(frozen=True, slots=True)
class Pair:
    """A serving certificate and its private key, both PEM; the key is not shown when this is printed."""

    certificate: bytes
    key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Issued:
    """A certificate just made, and the authority (PEM) that vouches for it."""

    authority: bytes
    pair: Pair


@dataclass(frozen=True, slots=True)
class Material:
    """What all replicas share: authorities to trust (`bundle`, PEM), the certificate to serve, perhaps the next one.

    `since` is when the rotation last moved; it says nothing while none is under way.
    """

    bundle: bytes
    serving: Pair
    since: datetime
    staged: Pair | None = None


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a certificate lives, how long before its end the next one is made, and how long news takes to spread."""

    lifetime: timedelta = timedelta(days=90)
    early: timedelta = timedelta(days=30)
    settle: timedelta = timedelta(minutes=1)


# --- making ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Draw:
    """What must be random: the keys of the authority and of the certificate, and their serial numbers."""

    authority: ec.EllipticCurvePrivateKey = field(repr=False)
    serving: ec.EllipticCurvePrivateKey = field(repr=False)
    serials: tuple[int, int]


def issue(names: Sequence[str], now: datetime, lifetime: timedelta, draw: Draw) -> Issued:
    """Make an authority and, signed by it, a certificate for names and addresses; both end `lifetime` after `now`."""
    authority_serial, serial = draw.serials
    # A name of its own keeps generations apart where several are trusted at once.
    issuer = _named(f"modeldeployment-webhook-ca-{authority_serial:x}"[:64])
    authority_id = x509.SubjectKeyIdentifier.from_public_key(draw.authority.public_key())
    authority = (
        _builder(issuer, draw.authority, authority_serial, now, lifetime)
        .issuer_name(issuer)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(draw.authority, hashes.SHA256())
    )
    certificate = (
        _builder(_named("modeldeployment-webhook"), draw.serving, serial, now, lifetime)
        .issuer_name(issuer)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(authority_id), critical=False)
        .sign(draw.authority, hashes.SHA256())
    )
    key = draw.serving.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return Issued(_pem(authority), Pair(_pem(certificate), key))


def _builder(
    subject: x509.Name, key: ec.EllipticCurvePrivateKey, serial: int, now: datetime, lifetime: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key.public_key())
        .serial_number(serial)
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + lifetime)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


# --- judging ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Keep:
    """Nothing to do now."""


@dataclass(frozen=True, slots=True)
class Begin:
    """There is no certificate that can be served: make one and serve it at once."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stage:
    """Make the next certificate and have its authority trusted; go on serving the present one."""

    reason: str


@dataclass(frozen=True, slots=True)
class Promote:
    """Serve the staged certificate; go on trusting the authority of the old one."""


@dataclass(frozen=True, slots=True)
class Retire:
    """Trust the authority of the certificate in service alone."""


Step: TypeAlias = Keep | Begin | Stage | Promote | Retire


def next_step(material: Material | None, names: Iterable[str], now: datetime, timing: Timing, *, trusted: bool) -> Step:
    """Say what is to be done; `trusted` tells whether API servers have been given `material.bundle`."""
    if material is None:
        return Begin("there is none yet")
    fault = _fault(material.bundle, material.serving, names, now)
    if fault:
        staged = material.staged
        usable = staged is not None and not _fault(material.bundle, staged, names, now)
        return Promote() if usable else Begin(fault)
    settled = trusted and now >= material.since + timing.settle
    if material.staged is not None:
        if _fault(material.bundle, material.staged, names, now):
            return Stage("the staged certificate cannot be used")
        return Promote() if settled else Keep()
    if now >= expiry(material.serving) - timing.early:
        return Stage(f"it ends {expiry(material.serving):%Y-%m-%d %H:%M:%S} UTC")
    if len(x509.load_pem_x509_certificates(material.bundle)) > 1:
        return Retire() if settled else Keep()
    return Keep()


def renewed(material: Material | None, step: Begin | Stage, issued: Issued, now: datetime) -> Material:
    """The material with a certificate just made: served at once, or staged."""
    bundle = _trusting(material, issued, now)
    if isinstance(step, Begin) or material is None:
        return Material(bundle, issued.pair, now)
    return Material(bundle, material.serving, now, staged=issued.pair)


def moved(material: Material, step: Promote | Retire, now: datetime) -> Material:
    """The material one step further in a rotation."""
    if isinstance(step, Promote):
        return replace(material, serving=material.staged or material.serving, staged=None, since=now)
    signer = _signer(material.bundle, material.serving)
    return replace(material, bundle=_pem(signer) if signer else material.bundle, since=now)


def expiry(pair: Pair) -> datetime:
    """When the certificate ends. Raises CertificateError where it is none."""
    return _certificate(pair).not_valid_after_utc


def names_of(pair: Pair) -> tuple[str, ...]:
    """The DNS names and IP addresses the certificate is for. Raises CertificateError where it is none."""
    found = _certificate(pair).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    addresses = found.get_values_for_type(x509.IPAddress)
    return (*found.get_values_for_type(x509.DNSName), *(str(each) for each in addresses))


def _trusting(material: Material | None, issued: Issued, now: datetime) -> bytes:
    """The new authority, and those of old that still vouch for something."""
    kept = [each for each in _authorities(material.bundle) if each.not_valid_after_utc > now] if material else []
    return b"".join([issued.authority, *(_pem(each) for each in kept)])


def _authorities(bundle: bytes) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(bundle)
    except ValueError:
        return []


def _certificate(pair: Pair) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(pair.certificate)
    except ValueError as error:
        raise CertificateError(f"the webhook's certificate cannot be read: {error}") from error


def _signer(bundle: bytes, pair: Pair) -> x509.Certificate | None:
    certificate = _certificate(pair)
    for authority in _authorities(bundle):
        try:
            certificate.verify_directly_issued_by(authority)
        except (ValueError, TypeError, InvalidSignature):
            continue
        return authority
    return None


def _fault(bundle: bytes, pair: Pair, names: Iterable[str], now: datetime) -> str:
    """Why the pair cannot be served; empty where it can."""
    try:
        certificate = _certificate(pair)
        key = serialization.load_pem_private_key(pair.key, None)
        missing = sorted(set(names) - set(names_of(pair)))
    except (CertificateError, ValueError, TypeError, x509.ExtensionNotFound):
        return "it cannot be read"
    if key.public_key() != certificate.public_key():
        return "the key belongs to another certificate"
    if not certificate.not_valid_before_utc <= now < certificate.not_valid_after_utc:
        return f"it is good from {certificate.not_valid_before_utc} to {certificate.not_valid_after_utc}"
    if missing:
        return f"it is not for {', '.join(missing)}"
    if _signer(bundle, pair) is None:
        return "no authority in the bundle vouches for it"
    return ""
