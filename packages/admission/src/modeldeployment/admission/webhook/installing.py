"""Keeps the webhook callable: its certificate in a Secret, its two configurations, and the certificate in service.

Every replica reads the Secret and reloads; one writer, the holder of a Lease, makes and rotates the certificate and
repairs the configurations. Each write names the version it was decided on, so a second writer only loses a race.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from modeldeployment.admission.errors import CertificateError
from modeldeployment.admission.webhook import certificates, configurations, tls
from modeldeployment.admission.webhook.certificates import Draw, Keep, Material, Pair, Promote, Retire, Stage
from modeldeployment.admission.webhook.configurations import SHAPES, Installation
from modeldeployment.kube import AlreadyExists, Client, Conflict, Grant, Kind, KubeError, NotFound, PatchType, shapes

_log: Final = logging.getLogger(__name__)

SECRET: Final = "modeldeployment-webhook-certificate"  # noqa: S105 (its name, not what is in it)

_LOOK_SECONDS: Final = 5.0
_FIRST_SECONDS: Final = 0.25  # until there is something to serve
_BUNDLE, _CERTIFICATE, _KEY = "ca.crt", "tls.crt", "tls.key"
_NEXT_CERTIFICATE, _NEXT_KEY, _SINCE = "next.crt", "next.key", "since"


class Secret(shapes.Object, frozen=True):
    """A Secret with its data, which never leaves this module."""

    data: dict[str, bytes] = msgspec.field(default_factory=dict)


SECRETS: Final = Kind("", "v1", "secrets", "Secret", Secret)


def grants(prefix: str = configurations.PREFIX) -> tuple[Grant, ...]:
    """What installing asks of the API server."""
    names = tuple(f"{prefix}-{shape.suffix}" for shape in SHAPES)
    return (
        Grant(SECRETS, ("create",), "store the first webhook certificate", own_namespace=True),
        Grant(SECRETS, ("get", "update"), "share and rotate it", own_namespace=True, names=(SECRET,)),
        *(Grant(shape.kind, ("create",), "have writes reviewed") for shape in SHAPES),
        *(
            Grant(shape.kind, ("get", "patch"), "see that they are, and repair it", names=(name,))
            for shape, name in zip(SHAPES, names, strict=True)
        ),
    )


@dataclass(frozen=True, slots=True)
class _Read:
    """The Secret as it was read: its version, empty where there is none, and what it holds."""

    version: str
    material: Material | None


class Keeper:
    """Keeps certificate and configurations as they must be; `turn` is one look, `run` looks again and again.

    `namespace` holds the Secret, `context` is the server's, `writing` tells whether this replica is the one to write.
    """

    def __init__(
        self,
        client: Client,
        installation: Installation,
        namespace: str,
        context: ssl.SSLContext,
        *,
        timing: certificates.Timing | None = None,
        writing: Callable[[], bool] = lambda: True,
    ) -> None:
        self._client = client
        self._installation = installation
        self._namespace = namespace
        self._context = context
        self._timing = timing or certificates.Timing()
        self._writing = writing
        self._held: Material | None = None
        self._serving: Pair | None = None
        self._installed = False
        self._told = ""
        self._soon = asyncio.Event()

    @property
    def ends(self) -> datetime | None:
        """When the certificate in service ends; None before there is one."""
        return certificates.expiry(self._serving) if self._serving else None

    def waiting(self) -> tuple[str, ...]:
        """What is missing before a call can succeed."""
        ends = self.ends
        return (
            *(() if ends is not None and ends > _now() else ("a webhook certificate",)),
            *(() if self._installed else ("the webhook configurations",)),
        )

    def look(self) -> None:
        """Look again now."""
        self._soon.set()

    async def run(self) -> None:
        """Look every few seconds, and sooner until the webhook can be called; trouble is logged once while it lasts."""
        while True:
            try:
                await self.turn()
                self._tell("")
            except (KubeError, CertificateError) as error:
                self._tell(str(error).splitlines()[0])
            await self._pause()

    async def turn(self) -> None:
        """Read everything, do what is due, and serve what the Secret holds. Raises KubeError and CertificateError."""
        read = await self._read()
        if self._writing():
            read = await self._stepped(read)
        material = read.material
        if material is None:
            return
        self._held = material
        if material.serving != self._serving:
            tls.load(self._context, material.serving)
            self._serving = material.serving
            _log.info("certificate in service", extra=self._said(f"until {certificates.expiry(material.serving)}"))
        self._installed = await self._configured(material, repair=self._writing())

    # --- the Secret ---

    async def _read(self) -> _Read:
        try:
            found = await self._client.get(SECRETS, SECRET, self._namespace)
        except NotFound:
            return _Read("", None)
        return _Read(found.metadata.resource_version, _material(found.data))

    async def _stepped(self, read: _Read) -> _Read:
        """Do what is due to the certificate and store it; whoever loses a race goes on with what was stored."""
        now = _now()
        # A Secret that was taken away asks for another certificate; what is still served is trusted until then.
        material = read.material or self._held
        trusted = material is not None and await self._configured(material, repair=False)
        names = self._installation.names
        step = certificates.next_step(material, names, now, self._timing, trusted=trusted)
        if read.material is None and isinstance(step, Keep):
            step = Stage("its Secret is gone")
        match step:
            case Keep():
                return read
            case Promote() | Retire():
                assert material is not None
                after = certificates.moved(material, step, now)
            case _:
                issued = certificates.issue(names, now, self._timing.lifetime, _draw())
                after = certificates.renewed(material, step, issued, now)
        body = _body(self._namespace, read.version, after)
        try:
            if read.version:
                stored = await self._client.replace(SECRETS, SECRET, body, self._namespace)
            else:
                stored = await self._client.create(SECRETS, body, self._namespace)
        except (Conflict, AlreadyExists):
            return await self._read()
        reason = getattr(step, "reason", "")
        _log.info("certificate stored", extra=self._said(f"{type(step).__name__} {reason}".strip()))
        return _Read(stored.metadata.resource_version, after)

    # --- the configurations ---

    async def _configured(self, material: Material, *, repair: bool) -> bool:
        """Whether both configurations are as they must be; with `repair`, after making them so."""
        every = [await self._configured_as(shape, material, repair=repair) for shape in SHAPES]
        return all(every)

    async def _configured_as(self, shape: configurations.Shape, material: Material, *, repair: bool) -> bool:
        name = self._installation.named(shape)
        wanted = configurations.configuration(self._installation, shape, material.bundle)
        try:
            if configurations.in_place(wanted, await self._client.get(shape.kind, name)):
                return True
        except NotFound:
            pass
        if not repair:
            return False
        await self._client.patch(shape.kind, name, wanted, how=PatchType.APPLY, force=True)
        _log.info("webhook configuration written", extra={"object": f"{shape.kind}/{name}"})
        return True

    async def _pause(self) -> None:
        rhythm = min(_LOOK_SECONDS, self._timing.settle.total_seconds() / 4)
        try:
            async with asyncio.timeout(_FIRST_SECONDS if self.waiting() else rhythm):
                await self._soon.wait()
        except TimeoutError:
            return
        self._soon.clear()

    def _tell(self, trouble: str) -> None:
        if trouble and trouble != self._told:
            _log.warning("webhook not kept", extra=self._said(trouble))
        elif self._told and not trouble:
            _log.info("webhook kept again", extra=self._said(self._told))
        self._told = trouble

    def _said(self, reason: str) -> dict[str, str]:
        return {"object": f"secrets/{self._namespace}/{SECRET}", "reason": reason}


async def remove(client: Client, installation: Installation) -> None:
    """Take both configurations away, so that writes are no longer reviewed."""
    for shape in SHAPES:
        try:
            await client.delete(shape.kind, installation.named(shape))
        except NotFound:
            continue


def _now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 (the rim reads the clock)


def _draw() -> Draw:
    authority, serving = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    return Draw(authority, serving, (x509.random_serial_number(), x509.random_serial_number()))


def _material(data: dict[str, bytes]) -> Material | None:
    """What the Secret holds; None where it was never whole."""
    if not {_BUNDLE, _CERTIFICATE, _KEY} <= data.keys():
        return None
    try:
        since = datetime.fromisoformat(data.get(_SINCE, b"").decode()).astimezone(UTC)
    except ValueError:
        since = datetime.fromtimestamp(0, UTC)
    staged = Pair(data[_NEXT_CERTIFICATE], data[_NEXT_KEY]) if {_NEXT_CERTIFICATE, _NEXT_KEY} <= data.keys() else None
    return Material(data[_BUNDLE], Pair(data[_CERTIFICATE], data[_KEY]), since, staged)


def _body(namespace: str, version: str, material: Material) -> dict[str, Any]:
    data = {
        _BUNDLE: material.bundle,
        _CERTIFICATE: material.serving.certificate,
        _KEY: material.serving.key,
        _SINCE: material.since.isoformat().encode(),
    }
    if material.staged is not None:
        data |= {_NEXT_CERTIFICATE: material.staged.certificate, _NEXT_KEY: material.staged.key}
    metadata = {"name": SECRET, "namespace": namespace} | ({"resourceVersion": version} if version else {})
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "kubernetes.io/tls", "data": data}
