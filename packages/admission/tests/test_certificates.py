"""The webhook's certificate: what is made, what is judged, and a rotation from end to end."""

import ssl
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from modeldeployment.admission.errors import CertificateError
from modeldeployment.admission.webhook import certificates, tls
from modeldeployment.admission.webhook.certificates import (
    Begin,
    Draw,
    Issued,
    Keep,
    Material,
    Pair,
    Promote,
    Retire,
    Stage,
    Step,
    Timing,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAMES = ("127.0.0.1", "modeldeployment-webhook.gpustack.svc")
TIMING = Timing(lifetime=timedelta(days=90), early=timedelta(days=30), settle=timedelta(minutes=1))


@cache
def draw(number: int) -> Draw:
    authority, serving = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    return Draw(authority, serving, (2 * number + 1, 2 * number + 2))


@cache
def issued(number: int = 0, now: datetime = NOON, names: tuple[str, ...] = NAMES) -> Issued:
    return certificates.issue(names, now, TIMING.lifetime, draw(number))


def fresh(now: datetime = NOON) -> Material:
    made = issued(0, now)
    return Material(made.authority, made.pair, now)


def step(material: Material | None, now: datetime, *, trusted: bool = True) -> Step:
    return certificates.next_step(material, NAMES, now, TIMING, trusted=trusted)


def authorities(material: Material) -> list[int]:
    return [each.serial_number for each in x509.load_pem_x509_certificates(material.bundle)]


def test_a_certificate_is_for_its_names_and_ends_when_asked() -> None:
    pair = issued().pair
    assert certificates.names_of(pair) == ("modeldeployment-webhook.gpustack.svc", "127.0.0.1")
    assert certificates.expiry(pair) == NOON + timedelta(days=90)


def test_a_certificate_is_already_good_for_a_server_whose_clock_is_behind() -> None:
    assert step(fresh(NOON + timedelta(minutes=4)), NOON) == Keep()


def test_what_is_made_is_what_a_strict_client_accepts() -> None:
    made = certificates.issue(NAMES, datetime.now(UTC), TIMING.lifetime, draw(0))
    served = tls.context(None)
    tls.load(served, made.pair)
    for name in NAMES:
        trusting = ssl.create_default_context(cadata=made.authority.decode())
        trusting.verify_flags |= ssl.VERIFY_X509_STRICT
        shake(served, trusting, name)
    trusting = ssl.create_default_context(cadata=made.authority.decode())
    with pytest.raises(ssl.SSLCertVerificationError, match=r"127\.0\.0\.2"):
        shake(served, trusting, "127.0.0.2")


def test_a_context_takes_a_new_certificate_without_being_made_anew() -> None:
    first, second = (certificates.issue(NAMES, datetime.now(UTC), TIMING.lifetime, draw(number)) for number in (0, 1))
    served = tls.context(None)
    for made in (first, second):
        tls.load(served, made.pair)
        shake(served, ssl.create_default_context(cadata=made.authority.decode()), NAMES[0])


def test_a_key_of_another_certificate_is_refused_without_being_shown() -> None:
    mixed = Pair(issued(0).pair.certificate, issued(1).pair.key)
    with pytest.raises(CertificateError) as refused:
        tls.load(tls.context(None), mixed)
    assert "PRIVATE KEY" not in str(refused.value)
    assert "PRIVATE KEY" not in repr(mixed)


def test_client_authorities_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(CertificateError, match=r"absent\.pem cannot be used: .*No such file"):
        tls.context(tmp_path / "absent.pem")


def test_nothing_is_done_to_a_certificate_in_its_prime() -> None:
    assert step(fresh(), NOON + timedelta(days=59)) == Keep()


@pytest.mark.parametrize(
    ("material", "reason"),
    [
        (None, "there is none yet"),
        (replace(fresh(), serving=Pair(b"nonsense", b"nonsense")), "it cannot be read"),
        (replace(fresh(), serving=Pair(fresh().serving.certificate, b"nonsense")), "it cannot be read"),
        (
            replace(fresh(), serving=Pair(issued(0).pair.certificate, issued(1).pair.key)),
            "the key belongs to another certificate",
        ),
        (replace(fresh(), bundle=issued(1).authority), "no authority in the bundle vouches for it"),
        (replace(fresh(), bundle=b"nonsense"), "no authority in the bundle vouches for it"),
        (
            replace(fresh(), serving=certificates.issue(NAMES[:1], NOON, TIMING.lifetime, draw(0)).pair),
            "it is not for modeldeployment-webhook.gpustack.svc",
        ),
        (
            fresh(NOON - timedelta(days=90)),
            "it is good from 2025-12-01 11:55:00+00:00 to 2026-03-01 12:00:00+00:00",
        ),
    ],
)
def test_a_certificate_that_cannot_be_served_is_made_anew_at_once(material: Material | None, reason: str) -> None:
    assert step(material, NOON) == Begin(reason)


def test_a_new_beginning_goes_on_trusting_what_replicas_may_still_serve() -> None:
    before = replace(fresh(), serving=Pair(b"nonsense", b"nonsense"))
    after = certificates.renewed(before, Begin("it cannot be read"), issued(1), NOON)
    assert authorities(after) == [3, 1]
    assert after.serving == issued(1).pair


def test_a_rotation_never_serves_what_is_not_yet_trusted_and_never_distrusts_what_is_still_served() -> None:
    due = NOON + timedelta(days=60)
    first, second = fresh().serving, issued(1, due)

    began = step(fresh(), due)
    assert began == Stage("it ends 2026-05-30 12:00:00 UTC")
    assert isinstance(began, Stage)
    staged = certificates.renewed(fresh(), began, second, due)
    assert authorities(staged) == [3, 1]
    assert (staged.serving, staged.staged) == (first, second.pair)
    assert step(staged, due + timedelta(seconds=59)) == Keep()
    assert step(staged, due + timedelta(seconds=60), trusted=False) == Keep()

    moment = due + timedelta(seconds=60)
    assert step(staged, moment) == Promote()
    promoted = certificates.moved(staged, Promote(), moment)
    assert authorities(promoted) == [3, 1]
    assert (promoted.serving, promoted.staged) == (second.pair, None)
    assert step(promoted, moment + timedelta(seconds=59)) == Keep()

    end = moment + timedelta(seconds=60)
    assert step(promoted, end) == Retire()
    retired = certificates.moved(promoted, Retire(), end)
    assert authorities(retired) == [3]
    assert retired.serving == second.pair
    assert step(retired, end) == Keep()


def test_a_staged_certificate_is_served_at_once_when_the_old_one_has_ended() -> None:
    end = NOON + timedelta(days=90)
    staged = certificates.renewed(
        fresh(), Stage(""), issued(1, end - timedelta(seconds=30)), end - timedelta(seconds=30)
    )
    assert step(staged, end, trusted=False) == Promote()


def test_a_staged_certificate_that_cannot_be_used_is_staged_anew() -> None:
    broken = replace(fresh(), staged=Pair(b"nonsense", b"nonsense"))
    assert step(broken, NOON) == Stage("the staged certificate cannot be used")


def test_an_authority_that_has_ended_is_not_carried_on() -> None:
    old = fresh(NOON - timedelta(days=90))
    after = certificates.renewed(old, Begin("it has ended"), issued(1), NOON)
    assert authorities(after) == [3]


def shake(server: ssl.SSLContext, client: ssl.SSLContext, name: str) -> None:
    """A whole handshake in memory; raises what the client makes of the certificate."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname=name),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for end in ends * 3:
        try:
            end.do_handshake()
        except ssl.SSLWantReadError:
            continue
    assert ends[0].version() is not None
