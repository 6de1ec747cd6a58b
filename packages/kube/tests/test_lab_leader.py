"""Two electors and one Lease on the real API server."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
from kube_forwarder import forwarding
from modeldeployment.kube import Client, Elector, Finished, Lost, Timing, kinds, load

pytestmark = pytest.mark.lab

QUICK = Timing(lease=6.0, deadline=4.0, renew=0.5)


class Candidate:
    """An elector whose work is to wait; it notes when it leads and when it stops."""

    def __init__(self, client: Client, namespace: str, identity: str, timing: Timing = QUICK) -> None:
        self.elector = Elector(client, "operator", namespace, identity, timing=timing)
        self.leads = asyncio.Event()
        self.stopped = asyncio.Event()
        self.lost: list[str] = []
        self.running = asyncio.create_task(self.elector.run(self._work, self.lost.append))

    async def _work(self) -> None:
        self.leads.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped.set()

    async def stop(self) -> None:
        self.running.cancel()
        await asyncio.wait({self.running})


@contextlib.asynccontextmanager
async def opened(control_plane: Any) -> AsyncIterator[Client]:
    async with asyncio.timeout(60), Client(load(control_plane.kubeconfig), field_manager="elector") as client:
        yield client


async def test_one_of_two_leads_and_hands_over_at_once_when_it_stops(control_plane: Any, namespace: str) -> None:
    async with opened(control_plane) as client:
        slow = Timing(lease=600.0, deadline=400.0, renew=0.3)  # only a release can end it in time
        one = Candidate(client, namespace, "one", slow)
        await one.leads.wait()
        two = Candidate(client, namespace, "two", slow)
        await asyncio.sleep(1.0)
        assert (one.elector.leading, two.elector.leading) == (True, False)
        await one.stop()
        assert (one.stopped.is_set(), one.elector.leading, one.lost) == (True, False, [])
        await two.leads.wait()
        lease = await client.get(kinds.LEASES, "operator", namespace)
        assert (lease.spec.holder_identity, lease.spec.lease_transitions) == ("two", 2)
        await two.stop()


HOLDER = """
import asyncio, pathlib, sys
from modeldeployment.kube import Client, Elector, Timing, load

async def main():
    async with Client(load(pathlib.Path(sys.argv[1]))) as client:
        timing = Timing(lease=6.0, deadline=4.0, renew=0.5)
        await Elector(client, "operator", sys.argv[2], "doomed", timing=timing).run(work)

async def work():
    print("leading", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_killed_holder_is_followed_when_its_lease_is_over(control_plane: Any, namespace: str) -> None:
    async with opened(control_plane) as client:
        doomed = await asyncio.create_subprocess_exec(
            sys.executable, "-c", HOLDER, str(control_plane.kubeconfig), namespace, stdout=asyncio.subprocess.PIPE
        )
        assert doomed.stdout is not None
        assert await doomed.stdout.readline() == b"leading\n"
        two = Candidate(client, namespace, "two")
        doomed.kill()
        await doomed.wait()
        await two.leads.wait()
        lease = await client.get(kinds.LEASES, "operator", namespace)
        assert lease.spec.holder_identity == "two"
        await two.stop()


async def test_a_holder_that_cannot_reach_the_server_stops_before_another_leads(
    control_plane: Any, namespace: str
) -> None:
    direct = load(control_plane.kubeconfig)
    async with opened(control_plane) as client, forwarding(direct) as (forwarder, access), Client(access) as cut_off:
        one = Candidate(cut_off, namespace, "one")
        await one.leads.wait()
        two = Candidate(client, namespace, "two")
        forwarder.close()
        outcome = await one.running
        assert isinstance(outcome, Lost)
        assert one.lost == [outcome.reason]
        assert (one.stopped.is_set(), one.elector.leading, two.leads.is_set()) == (True, False, False)
        await two.leads.wait()
        await two.stop()


async def test_a_holder_whose_lease_was_taken_from_it_stops(control_plane: Any, namespace: str) -> None:
    async with opened(control_plane) as client:
        one = Candidate(client, namespace, "one")
        await one.leads.wait()
        await client.patch(kinds.LEASES, "operator", {"spec": {"holderIdentity": "thief"}}, namespace)
        assert await one.running == Lost("held by thief")
        assert (one.stopped.is_set(), one.lost) == (True, ["held by thief"])
        lease = await client.get(kinds.LEASES, "operator", namespace)
        assert lease.spec.holder_identity == "thief"


async def test_work_that_ends_by_itself_frees_the_lease(control_plane: Any, namespace: str) -> None:
    async with opened(control_plane) as client:
        elector = Elector(client, "operator", namespace, "one", timing=QUICK)

        async def work() -> None:
            assert elector.leading

        assert await elector.run(work) == Finished()
        lease = await client.get(kinds.LEASES, "operator", namespace)
        assert lease.spec.holder_identity == ""
