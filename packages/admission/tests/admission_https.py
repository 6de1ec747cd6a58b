"""A webhook under test, asked as an API server asks: over HTTPS, by the authorities of its configuration."""

import asyncio
import base64
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
from admission_api_server import ApiServer
from modeldeployment.admission import Policy
from modeldeployment.admission.webhook import Plan, Webhook
from modeldeployment.admission.webhook.configurations import Half, Installation, path

NAMESPACE: Final = "gpustack"
_CONFIGURATIONS: Final = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


@dataclass(frozen=True, slots=True)
class Said:
    """An HTTP answer."""

    status: int
    text: str

    @property
    def response(self) -> dict[str, Any]:
        """The response of a review."""
        assert self.status == 200, self.text
        found: dict[str, Any] = json.loads(self.text)["response"]
        return found


@dataclass(frozen=True, slots=True)
class Caller:
    """An API server's side."""

    session: aiohttp.ClientSession
    webhook: Webhook
    trusting: ssl.SSLContext

    async def review(
        self,
        new: Mapping[str, Any] | None,
        old: Mapping[str, Any] | None = None,
        half: Half = Half.VALIDATE,
        **more: Any,
    ) -> dict[str, Any]:
        """Have a write reviewed and return the response."""
        said = await self.post(path(half, (new or old or {})["kind"]), body(new, old, **more))
        return said.response

    async def post(self, at: str, content: bytes, content_type: str = "application/json") -> Said:
        """Send bytes."""
        return await self.send("POST", at, data=content, headers={"Content-Type": content_type})

    async def send(self, method: str, at: str, **how: Any) -> Said:
        """Send any request."""
        url = f"https://127.0.0.1:{self.webhook.port}{at}"
        async with self.session.request(method, url, ssl=self.trusting, **how) as answer:
            return Said(answer.status, await answer.text())


def body(new: Mapping[str, Any] | None, old: Mapping[str, Any] | None = None, **more: Any) -> bytes:
    """The bytes of a review."""
    request = {
        "uid": "7c8f1c1e",
        "kind": {"group": "worker.gpustack.ai", "version": "v1", "kind": (new or old or {})["kind"]},
        "name": (new or old or {})["metadata"].get("name", ""),
        "namespace": "team-a",
        "operation": "CREATE" if old is None else "UPDATE",
        "userInfo": {"username": "anna"},
        "object": new,
        "oldObject": old,
    }
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {**request, **more}}
    return json.dumps(review).encode()


@contextlib.asynccontextmanager
async def calling(server: ApiServer, policy: Policy | None = None, **plan_of: Any) -> AsyncIterator[Caller]:
    """Run a webhook before this API server and call it as its configuration says; `plan_of` are fields of its Plan."""
    plan = Plan(("127.0.0.1", 0), Installation("https://127.0.0.1:9443"), NAMESPACE, **plan_of)
    webhook = Webhook(plan, server.access, policy or Policy())
    async with webhook.running(), aiohttp.ClientSession() as session:
        async with asyncio.timeout(10):
            while webhook.waiting():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        yield Caller(session, webhook, trusting(server))


def trusting(server: ApiServer) -> ssl.SSLContext:
    """Trust what the API server was given to trust."""
    configuration = server.objects[f"{_CONFIGURATIONS}/gpustack-worker-validation"]
    bundle = base64.b64decode(configuration["webhooks"][0]["clientConfig"]["caBundle"])
    return ssl.create_default_context(cadata=bundle.decode())
