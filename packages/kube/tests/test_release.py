"""Handing a Lease back, against a server whose answers are written down."""

import asyncio
from typing import Any

from kube_server import hang, refuse, reply, serving
from modeldeployment.kube import Client, Elector, Timing


def lease(version: str, holder: str = "us") -> dict[str, Any]:
    return {
        "metadata": {"name": "operator", "namespace": "default", "resourceVersion": version},
        "spec": {"holderIdentity": holder, "leaseDurationSeconds": 600},
    }


async def test_a_renewal_committed_after_all_does_not_keep_the_lease_from_being_handed_back() -> None:
    answers = (
        reply(200, lease("1", holder="")),  # free
        reply(200, lease("2")),  # taken
        hang,  # a renewal, cut short by the stop; the server commits it later, as version 3
        reply(200, lease("2")),  # what the release reads first
        refuse(409, "Conflict"),
        reply(200, lease("3")),
        reply(200, lease("4", holder="")),
    )
    async with asyncio.timeout(10), serving(*answers) as server, Client(server.access) as client:
        timing = Timing(lease=600.0, deadline=400.0, renew=0.01)
        elector = Elector(client, "operator", "default", "us", timing=timing)
        running = asyncio.create_task(elector.run(asyncio.Event().wait))  # type: ignore[arg-type]
        await server.saw(3)
        running.cancel()
        await asyncio.wait({running})
        assert [seen.method for seen in server.seen[3:]] == ["GET", "PATCH", "GET", "PATCH"]
        assert b'"holderIdentity":""' in server.seen[-1].body.replace(b" ", b"")
        assert not elector.leading
