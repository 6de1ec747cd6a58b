"""What one router process sends requests to: its list of workers, or the numbers of a picker, read as endpoints.

Source: facts status §6, routers-measured §3, routing §9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modeldeployment.api.choices import RouterName
from modeldeployment.router.withdrawal import listing, picker
from modeldeployment.router.withdrawal.asking import LIST, NUMBERS, Ask

if TYPE_CHECKING:
    from modeldeployment.router.withdrawal.asking import Heard


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One HTTP endpoint by the name that the router has for it; it says by address or by name which Pod it is of."""

    name: str
    address: str = ""
    pod: str = ""


def asks(router: RouterName) -> Ask:
    """Answer the one request whose answer is the view of a process."""
    return NUMBERS if router is RouterName.LLM_D else LIST


def endpoints(router: RouterName, heard: Heard) -> frozenset[Endpoint]:
    """Read what a process sends requests to; a worker that it holds for ill gets none.

    Raises Strange where the answer is no view, or not all of one.
    """
    if router is RouterName.LLM_D:
        return frozenset(Endpoint(each, pod=picker.pod_of(each)) for each in picker.endpoints(heard))
    listed = listing.workers(heard, by_id=listing.BY_ID[router])
    return frozenset(Endpoint(each.url, address=each.address) for each in listed if each.healthy)
