"""The TLS side of the server: one context for the life of the process, into which new certificates are loaded."""

import os
import ssl
from pathlib import Path

from modeldeployment.admission.errors import CertificateError
from modeldeployment.admission.webhook.certificates import Pair


def context(client_authorities: Path | None) -> ssl.SSLContext:
    """A server's context without a certificate yet; with `client_authorities` (PEM), callers must show a certificate.

    Raises CertificateError where the file cannot be used.
    """
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    if client_authorities is not None:
        try:
            made.load_verify_locations(client_authorities)
        except OSError as error:
            raise CertificateError(f"client authorities {client_authorities} cannot be used: {error}") from error
        made.verify_mode = ssl.CERT_REQUIRED
    return made


def load(into: ssl.SSLContext, pair: Pair) -> None:
    """Serve this certificate from the next handshake on; open connections stay as they are. Raises CertificateError."""
    # OpenSSL reads from a path alone; a file that lives in memory has one and never touches a disk.
    handle = os.memfd_create("webhook")
    try:
        os.write(handle, pair.certificate + pair.key)
        into.load_cert_chain(f"/proc/self/fd/{handle}")
    except OSError as error:
        raise CertificateError(f"the webhook's certificate cannot be used: {error}") from error
    finally:
        os.close(handle)
