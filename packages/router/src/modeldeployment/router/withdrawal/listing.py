"""The list of workers that the two command-line routers give, read strictly: what is not understood is no list.

Source: facts routers-measured §3.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from modeldeployment.api.choices import RouterName

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modeldeployment.router.withdrawal.asking import Heard, Subject

BY_ID: Final[Mapping[RouterName, bool]] = MappingProxyType({RouterName.VLLM: False, RouterName.SGLANG: True})
"""The routers that keep a list of workers, and whether they name them by ids of their own."""

_ID: Final = re.compile(r"[0-9A-Za-z-]{1,64}")
_URL: Final = re.compile(r"[!-~]{1,256}")
"""What a URL is written in; the whole of it is said in sentences."""


class Strange(Exception):
    """An answer that is outside the table of what routers answer; the message says how."""


@dataclass(frozen=True, slots=True)
class Worker:
    """One worker of a router: its URL, the address in it, what names it in a path, its kind, and whether it is well."""

    url: str
    address: str
    key: str
    kind: str
    healthy: bool


def workers(heard: Heard, *, by_id: bool) -> tuple[Worker, ...]:
    """Read the answer to a request for the list; `by_id` says whether the router names workers by ids of its own.

    Raises Strange where it is not the list of a router, or not all of it.
    """
    if not heard.answered:
        raise Strange(f"answers {heard}")
    try:
        body = json.loads(heard.body)
    except (ValueError, RecursionError) as error:
        raise Strange(f"answers {heard.ask.method} {heard.ask.path} with what is no JSON") from error
    found = body.get("workers") if isinstance(body, dict) else None
    if not isinstance(found, list) or body.get("total") != len(found):
        raise Strange(f"answers {heard.ask.method} {heard.ask.path} with what is no list of workers")
    return tuple(_worker(each, by_id=by_id) for each in found)


def of(listed: tuple[Worker, ...], subject: Subject) -> tuple[Worker, ...]:
    """Answer the workers at a member's address, whatever port or rank they name."""
    address = address_of(subject.address)
    return tuple(each for each in listed if each.address == address)


def peers(listed: tuple[Worker, ...], subject: Subject) -> bool:
    """Whether a router has another worker of the member's kind to send to, or is not expected to have one."""
    mine = of(listed, subject)
    return not subject.peers or any(each.kind == subject.word and each.healthy for each in listed if each not in mine)


def address_of(text: str) -> str:
    """Write an address as every address is compared here; raises Strange for what is none."""
    try:
        return ip_address(text).compressed
    except ValueError as error:
        raise Strange(f"names {text[:80]!r}, which is no Pod's address") from error


def _worker(entry: Any, *, by_id: bool) -> Worker:
    url = entry.get("url") if isinstance(entry, dict) else None
    kind, healthy = (entry.get("worker_type"), entry.get("is_healthy")) if isinstance(entry, dict) else (None, None)
    if not isinstance(url, str) or not isinstance(kind, str) or not isinstance(healthy, bool):
        raise Strange("lists a worker without url, worker_type or is_healthy")
    if not _URL.fullmatch(url):
        raise Strange(f"lists the worker {url[:80]!r}, which is no URL")
    key = entry.get("id") if by_id else key_of(url)
    if not isinstance(key, str) or (by_id and not _ID.fullmatch(key)):
        raise Strange("lists a worker without an id")
    return Worker(url, host_of(url), key, kind, healthy)


def key_of(url: str) -> str:
    """Answer how a router that names workers by their URLs names one in a path."""
    return quote(url, safe="")


@lru_cache(maxsize=4096)
def host_of(url: str) -> str:
    """Answer the address that a worker's URL names, a rank behind its port left out; raises Strange for none."""
    try:
        host = urlsplit(url.partition("@")[0]).hostname
    except ValueError as error:
        raise Strange(f"lists the worker {url[:80]!r}, which is no URL") from error
    return address_of(host or url)
