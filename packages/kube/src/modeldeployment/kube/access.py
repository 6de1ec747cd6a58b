"""How to reach an API server: address, TLS and a credential that is kept fresh.

The kubernetes package reads the configuration (kubeconfig with its exec plugins, certificate data and token files, or
the service account of a Pod); we only keep what it found and ask it again before a credential expires. It is imported
when a configuration is read and not before, because it costs most of a second and 40 MiB.
"""

import asyncio
import logging
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from modeldeployment.kube import errors

_log: Final = logging.getLogger(__name__)

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")

_FILE_SECONDS: Final = 60.0  # a projected token is replaced in its file long before it expires
_EARLY_SECONDS: Final = 60.0  # a credential is renewed this long, or a fifth of its life, before it expires
_AGAIN_SECONDS: Final = 5.0  # refusals closer together than this share one renewal


@dataclass(frozen=True, slots=True)
class Credential:
    """What a configuration says: server address, TLS files, Authorization header, when it expires (epoch seconds).

    `expires` is None for a credential that does not change.
    """

    server: str
    authorization: str = ""
    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None
    verify: bool = True
    server_name: str | None = None
    proxy: str | None = None
    expires: float | None = None


class Access:
    """The way to one API server: `server`, `tls`, `server_name`, `proxy`, and `authorization()` for each request.

    One TLS context serves the whole process. `read` is called again, in a thread, when the credential is about to
    expire and when the server refused it; a new client certificate is loaded into the same context.
    No proxy is taken from the environment; only a kubeconfig's `proxy-url` counts.
    """

    def __init__(self, read: Callable[[], Credential], clock: Callable[[], float] = time.time) -> None:
        self._read = read
        self._clock = clock
        self._lock = asyncio.Lock()
        self._not_before = float("-inf")
        self._take(read())
        self.server: Final = self._credential.server
        self.server_name: Final = self._credential.server_name
        self.proxy: Final = self._credential.proxy
        self.tls: Final = _context(self._credential) if self.server.startswith("https") else None

    async def authorization(self) -> str:
        """Give the Authorization header to send now, or an empty string when a client certificate speaks for us.

        Raises AccessError when the credential has expired and no other is to be had.
        """
        if self._clock() >= self._due:
            await self._renew(self._credential)
        return self._credential.authorization

    async def refused(self, sent: str) -> bool:
        """Read the credential anew after a 401 to this header; says whether there is another one to try."""
        before = self._credential
        if before.authorization == sent:
            await self._renew(before)
        return self._credential.authorization != sent or self._credential != before

    async def _renew(self, worn: Credential) -> None:
        async with self._lock:
            now = self._clock()
            if self._credential is not worn or now < self._not_before:
                return  # somebody else renewed it, or failed to, while this call waited
            self._not_before = now + _AGAIN_SECONDS
            try:
                fresh = await asyncio.to_thread(self._read)
            except errors.AccessError as error:
                if worn.expires is not None and now >= worn.expires:
                    raise
                extra = {"object": self.server, "reason": str(error)}
                _log.warning("credential not renewed, the old one is kept", extra=extra)
                return
            if self.tls is not None and fresh.certificate_file != worn.certificate_file:
                _load_certificate(self.tls, fresh)
            self._take(fresh)

    def _take(self, fresh: Credential) -> None:
        now = self._clock()
        self._credential = fresh
        life = float("inf") if fresh.expires is None else fresh.expires - now
        self._due = now + life - min(_EARLY_SECONDS, life / 5)


def load(
    kubeconfig: Path | None = None, context: str | None = None, *, service_account: Path = SERVICE_ACCOUNT
) -> Access:
    """Find the way to the API server.

    A kubeconfig that is named counts alone. Otherwise: the service account, when the process runs in a Pod (the
    variables KUBERNETES_SERVICE_HOST and _PORT and `service_account`/token and ca.crt exist); then what $KUBECONFIG
    names; then ~/.kube/config. Exec plugins run here and whenever their credential runs out.
    Raises AccessError.
    """
    if kubeconfig is not None:
        return Access(lambda: _from_kubeconfig(kubeconfig, context))
    try:
        return Access(lambda: _from_service_account(service_account))
    except errors.AccessError as not_in_a_pod:
        try:
            return Access(lambda: _from_kubeconfig(None, context))
        except errors.AccessError as error:
            raise errors.AccessError(
                f"no way to an API server: in a Pod: {not_in_a_pod}; kubeconfig: {error}\n"
                "hint: name a kubeconfig, or set KUBECONFIG"
            ) from error


def _from_kubeconfig(path: Path | None, context: str | None) -> Credential:
    from kubernetes.client import Configuration
    from kubernetes.config import kube_config

    where = str(path) if path is not None else kube_config.KUBE_CONFIG_DEFAULT_LOCATION
    found = Configuration()
    try:
        # The public function keeps the loader, and with it the expiry, to itself.
        loader = kube_config._get_kube_config_loader(filename=where, active_context=context)  # type: ignore[no-untyped-call]  # noqa: SLF001
        loader.load_and_set(found)
    except Exception as error:  # the loader lets yaml, os, subprocess and its own errors through
        raise errors.AccessError(f"kubeconfig {where}: {error}") from error
    user: dict[str, Any] = loader._user.value if loader._user is not None else {}  # noqa: SLF001 - as above
    expiry = getattr(loader, "expiry", None)
    expires = expiry.timestamp() if expiry is not None else None
    if expires is None and "tokenFile" in user and "token" not in user:
        expires = time.time() + _FILE_SECONDS
    credential = _credential(found, proxy=getattr(loader, "proxy", None), expires=expires)
    if "exec" in user and not credential.authorization and not credential.certificate_file:
        # The loader logs why and goes on without a credential, which a server answers as if we were anybody.
        raise errors.AccessError(f"kubeconfig {where}: exec plugin {user['exec'].get('command')} gave no credential")
    return credential


def _from_service_account(folder: Path) -> Credential:
    from kubernetes.client import Configuration
    from kubernetes.config import ConfigException
    from kubernetes.config.incluster_config import InClusterConfigLoader

    found = Configuration()
    try:
        loader: Any = InClusterConfigLoader(  # type: ignore[no-untyped-call]
            token_filename=folder / "token", cert_filename=folder / "ca.crt", try_refresh_token=False
        )
        loader.load_and_set(found)
    except (ConfigException, OSError) as error:
        raise errors.AccessError(str(error)) from error
    return _credential(found, proxy=None, expires=time.time() + _FILE_SECONDS)


def _credential(found: Any, *, proxy: str | None, expires: float | None) -> Credential:
    scheme, _, secret = found.api_key.get("BearerToken", "").strip().partition(" ")
    return Credential(
        server=found.host.rstrip("/"),
        # A token file ends with a line end more often than not, which must not reach the header.
        authorization=f"{'Bearer' if scheme.lower() == 'bearer' else scheme} {secret.strip()}" if secret else "",
        ca_file=str(found.ssl_ca_cert) if found.ssl_ca_cert else None,
        certificate_file=found.cert_file,
        key_file=found.key_file,
        verify=bool(found.verify_ssl),
        server_name=found.tls_server_name,
        proxy=proxy,
        expires=expires,
    )


def _context(credential: Credential) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=credential.ca_file)
    except OSError as error:
        raise errors.AccessError(f"certificate authority {credential.ca_file}: {error}") from error
    if not credential.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    _load_certificate(context, credential)
    return context


def _load_certificate(context: ssl.SSLContext, credential: Credential) -> None:
    if credential.certificate_file is None:
        return
    try:
        context.load_cert_chain(credential.certificate_file, credential.key_file)
    except OSError as error:
        raise errors.AccessError(f"client certificate {credential.certificate_file}: {error}") from error
