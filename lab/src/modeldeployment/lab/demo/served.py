"""Engines behind the Pods of the demo, for as long as some step wants them there."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from modeldeployment.kube import Client
from modeldeployment.lab import packaged
from modeldeployment.lab.demo.place import Place
from modeldeployment.lab.serving import Serving, given_back


@asynccontextmanager
async def engines(place: Place, client: Client, namespace: str) -> AsyncIterator[Callable[[bool], Awaitable[None]]]:
    """Yield what puts engines behind the Pods that come from now on, or gives those that come back to kwok.

    Pods that are there keep who plays them, and those with engines have to be gone by then. On a borrowed cluster
    nothing happens. Raises PolicyIgnored and the client's errors.
    """
    async with AsyncExitStack() as served:
        wanted = False

        async def serve(want: bool) -> None:
            nonlocal wanted
            if place.plane is None or want is wanted:
                return
            wanted = want
            if not want:
                await served.aclose()
                await given_back(client, namespace)
                return
            folder = place.log.parent / "served"
            folder.mkdir(exist_ok=True)
            await served.enter_async_context(Serving(client, place.plane, namespace, folder, packaged.install))

        yield serve
