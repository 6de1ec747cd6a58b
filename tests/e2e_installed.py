"""The operator's own process as the webhook of one namespace on a breakable control plane."""

import asyncio
import base64
import contextlib
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from e2e_operators import Operator, free_port
from e2e_worlds import World
from modeldeployment.admission.webhook.configurations import SHAPES, Configuration, Half, Installation
from modeldeployment.admission.webhook.installing import SECRET, SECRETS, remove
from modeldeployment.kube import ApiError, NotFound, Verb, request_for
from modeldeployment.reconcile import DEPLOYMENTS

PATIENCE: Final = 60.0


@dataclass(slots=True)
class Hooks:
    """Starts webhooks for the world's namespace, all reached at the first one's address."""

    world: World
    kubeconfig: Path
    folder: Path
    url: str = ""
    started: list[Operator] = field(default_factory=list)

    def start(self, *only: str, port: int = 0, **settings: str) -> Operator:
        """Start a process with these hats, the webhook alone where none is said."""
        address = f"127.0.0.1:{port or free_port()}"
        self.url = self.url or f"https://{address}"
        chosen = {
            "GPUSTACK_LEADER_NAMESPACE": self.world.namespace,
            "GPUSTACK_LEASE_SECONDS": "4",
            "GPUSTACK_WEBHOOK_LISTEN": address,
            "GPUSTACK_WEBHOOK_NAMESPACES": self.world.namespace,
            **({} if "GPUSTACK_WEBHOOK_SERVICE" in settings else {"GPUSTACK_WEBHOOK_URL": self.url}),
            **settings,
        }
        name = f"webhook-{len(self.started)}"
        self.started.append(Operator(self.kubeconfig, self.folder, name, chosen, only=only or ("webhook",)))
        return self.started[-1]

    async def called(self, *only: str, port: int = 0, **settings: str) -> Operator:
        """Start one and wait until the API server calls it, both halves."""
        operator = self.start(*only, port=port, **settings)
        await operator.ready()
        await self.until(self._calls, what="the API server calls the webhook")
        return operator

    async def _calls(self) -> bool:
        plain = self.world.manifest("probe")
        del plain["spec"]["roles"][0]["resources"]
        said = await self.world.apply(
            plain, "--dry-run=server", "-o", "jsonpath={.spec.roles[0].resources.accelerator}"
        )
        wrong = self.world.manifest("probe", privileged=True)
        return (said.code, said.out) == (0, "1") and (await self.world.apply(wrong, "--dry-run=server")).code == 1

    async def configuration(self, half: Half) -> Configuration:
        """The configuration of one half as the API server holds it."""
        shape = next(each for each in SHAPES if each.half is half)
        return await self.world.client.get(shape.kind, Installation("").named(shape))

    async def material(self) -> dict[str, bytes]:
        """What the Secret holds."""
        return (await self.world.client.get(SECRETS, SECRET, self.world.namespace)).data

    async def served(self, operator: Operator) -> bytes:
        """The certificate that a process shows (PEM), once it is trusted by the configuration's bundle."""
        bundle = base64.b64decode((await self.configuration(Half.VALIDATE)).webhooks[0]["clientConfig"]["caBundle"])
        trusting = ssl.create_default_context(cadata=bundle.decode())
        port = int(operator.settings["GPUSTACK_WEBHOOK_LISTEN"].rpartition(":")[2])
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting, server_hostname="127.0.0.1")
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()
        return ssl.DER_cert_to_PEM_cert(shown).encode()

    async def dry_run(self, body: dict[str, Any]) -> ApiError | None:
        """What the API server says to a create that is not carried out."""
        request = request_for(Verb.CREATE, DEPLOYMENTS, self.world.namespace, body=body, query={"dryRun": "All"})
        try:
            await self.world.client.raw(request)
        except ApiError as error:
            return error
        return None

    async def until(self, holds: Callable[[], Awaitable[object]], what: str) -> None:
        """Wait until `holds()`, asked ten times a second."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not await holds():  # noqa: ASYNC110 (what is asked is elsewhere)
                    await asyncio.sleep(0.1)
        except TimeoutError:
            pytest.fail("\n".join([f"not so within {PATIENCE:.0f} s: {what}", *(each.tail() for each in self.started)]))

    async def clear(self) -> None:
        """End the processes and take the configurations away."""
        for each in self.started:
            each.kill()
        with contextlib.suppress(NotFound):
            await remove(self.world.client, Installation(self.url))
