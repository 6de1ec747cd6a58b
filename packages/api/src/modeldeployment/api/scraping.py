"""Where a Pod says that its numbers are read: its scrape annotations (facts metrics §1).

Retirement, accounts of the cache and the scaler all read them there (decisions D23).
"""

from collections.abc import Mapping
from typing import Final

from modeldeployment.api import keys

_SCHEMES: Final = ("http", "https")
_PORTS: Final = range(1, 2**16)


def url(annotations: Mapping[str, str], address: str | None) -> str | None:
    """Answer the URL of a Pod's numbers at its own address; None where it does not say, or has no address yet."""
    scheme, path, port = (annotations.get(key, "") for key in (keys.SCRAPE_SCHEME, keys.SCRAPE_PATH, keys.SCRAPE_PORT))
    known = annotations.get(keys.SCRAPE) == keys.TRUE and scheme in _SCHEMES and path.startswith("/")
    if not address or not known or not port.isascii() or not port.isdigit() or int(port[:6]) not in _PORTS:
        return None
    return f"{scheme}://{host(address)}:{int(port[:6])}{path}"


def host(address: str) -> str:
    """Write an address as URLs have it."""
    return f"[{address}]" if ":" in address else address
