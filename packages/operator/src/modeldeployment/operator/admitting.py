"""The webhook as one hat of the process: it serves from every replica, and one of them keeps it installed."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from prometheus_client.registry import Collector

from modeldeployment.admission import errors
from modeldeployment.admission.webhook import Plan, Webhook
from modeldeployment.kube import Access, Client, Elector
from modeldeployment.operator import metrics
from modeldeployment.operator.errors import ListenError, SettingsError
from modeldeployment.operator.settings import Settings

LEASE = "modeldeployment-webhook"
"""Whoever holds it makes the certificate and writes the configurations; any replica may."""


class Admission:
    """Reviews writes in every replica. Raises SettingsError where the callers' authorities cannot be used."""

    def __init__(self, plan: Plan, settings: Settings, access: Access, client: Client, identity: str) -> None:
        self._elects = settings.leader_election
        self._elector = Elector(client, LEASE, settings.leader_namespace, identity, timing=settings.timing())
        try:
            self._webhook = Webhook(plan, access, settings.admission_policy(), writing=self._writing)
        except errors.CertificateError as error:
            raise SettingsError(f"webhook-client-ca-file: {error}; mount it, or leave it out") from error

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve reviews. Raises ListenError where the address cannot be opened."""
        try:
            async with self._webhook.running(), asyncio.TaskGroup() as group:
                campaign = group.create_task(self._campaign())
                try:
                    yield
                finally:
                    campaign.cancel()
        except errors.ListenError as error:
            raise ListenError(f"{error}; stop what holds it, or set GPUSTACK_WEBHOOK_LISTEN") from error

    async def work(self, stop: asyncio.Event) -> None:
        """Nothing that would have to be finished."""
        await stop.wait()

    def finish(self) -> None:
        """Go on until everything else has finished, whose writes are reviewed too."""

    def take_over(self, settings: Settings) -> bool:
        """Judge by changed settings."""
        return self._webhook.set_policy(settings.admission_policy())

    def waiting(self) -> tuple[str, ...]:
        """What keeps it from being ready."""
        return self._webhook.waiting()

    def collector(self) -> Collector:
        """Its series."""
        return metrics.WebhookCollector(self._webhook.tally, lambda: self._webhook.certificate_ends)

    def _writing(self) -> bool:
        return not self._elects or self._elector.leading

    async def _campaign(self) -> None:
        while self._elects:
            await self._elector.run(self._lead)

    async def _lead(self) -> None:
        self._webhook.look()
        await asyncio.Event().wait()
