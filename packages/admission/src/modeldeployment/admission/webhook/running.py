"""The webhook as one thing: a server, the reads behind it, and what keeps it callable."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from modeldeployment.admission.facts import Policy
from modeldeployment.admission.webhook import certificates, server, tls
from modeldeployment.admission.webhook.answering import Reviewer
from modeldeployment.admission.webhook.configurations import Installation
from modeldeployment.admission.webhook.installing import Keeper
from modeldeployment.kube import Access, Client, KubeError, Request, backoff

_log: Final = logging.getLogger(__name__)

_READS: Final = 256
"""Reads in flight at once. They have a client of their own: behind a write of ours they would wait for themselves."""
_READ_SECONDS: Final = 4.0

_SELF: Final = Request(
    method="POST",
    target="/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body=b'{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}',
    repeatable=True,
)


class _UserInfo(msgspec.Struct, frozen=True):
    username: str = ""


class _SelfStatus(msgspec.Struct, frozen=True, rename="camel"):
    user_info: _UserInfo = _UserInfo()


class _SelfReview(msgspec.Struct, frozen=True):
    status: _SelfStatus = _SelfStatus()


@dataclass(frozen=True, slots=True)
class Plan:
    """What an administrator decides about the webhook.

    `operators` are user names whose writes count as the operator's own, beside the one this process has itself.
    `namespace` holds the certificate's Secret. `client_authorities` (PEM) makes callers show a certificate.
    """

    listen: tuple[str, int]
    installation: Installation
    namespace: str
    operators: frozenset[str] = frozenset()
    client_authorities: Path | None = None
    timing: certificates.Timing = field(default_factory=certificates.Timing)


class Webhook:
    """Serves reviews while `running` is open; any number of replicas may, one of which is `writing`."""

    def __init__(
        self, plan: Plan, access: Access, policy: Policy, *, writing: Callable[[], bool] = lambda: True
    ) -> None:
        self._plan = plan
        self._client = Client(access, concurrency=_READS, timeout=_READ_SECONDS)
        self._reviewer = Reviewer(self._client, policy, plan.operators)
        self._context = tls.context(plan.client_authorities)
        self._keeper = Keeper(
            self._client, plan.installation, plan.namespace, self._context, timing=plan.timing, writing=writing
        )
        self._known = False
        self.port = plan.listen[1]
        self.tally = self._reviewer.tally

    @property
    def certificate_ends(self) -> datetime | None:
        """When the certificate in service ends; None before there is one."""
        return self._keeper.ends

    def set_policy(self, policy: Policy) -> bool:
        """Judge by other settings from the next review on; tells whether they differ."""
        changed = policy != self._reviewer.policy
        self._reviewer.policy = policy
        return changed

    def waiting(self) -> tuple[str, ...]:
        """What is missing before every review is answered as it should be; empty once the webhook is ready."""
        return (*self._keeper.waiting(), *(() if self._known else ("its own user name",)))

    def look(self) -> None:
        """See at once whether anything has to be written, for a replica that has just become the writer."""
        self._keeper.look()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve while open. Raises ListenError where the address cannot be opened."""
        async with (
            self._client,
            server.serving(self._plan.listen, self._context, self._reviewer) as self.port,
            asyncio.TaskGroup() as group,
        ):
            tasks = [group.create_task(self._keeper.run()), group.create_task(self._introduce())]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()

    async def _introduce(self) -> None:
        """Ask the API server who we are: whose writes to bound deployments are the operator's."""
        attempt = 0
        while True:
            try:
                answer = msgspec.json.decode(await self._client.raw(_SELF), type=_SelfReview)
            except (KubeError, msgspec.DecodeError) as error:
                attempt += 1
                _log.warning("own user name not known", extra={"reason": str(error).splitlines()[0]})
                await asyncio.sleep(backoff(attempt, seed=attempt))
            else:
                username = answer.status.user_info.username
                self._reviewer.operators |= {username}
                self._known = True
                _log.info("own user name known", extra={"object": username})
                return
