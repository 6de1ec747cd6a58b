"""The few requests the lab itself sends while starting: probes, apply, read."""

import asyncio
import json
import ssl
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self

import aiohttp

from modeldeployment.lab.controlplane.layout import Layout
from modeldeployment.lab.controlplane.options import Ports
from modeldeployment.lab.controlplane.preparing import ADMINISTRATOR
from modeldeployment.lab.errors import Refused

_SECONDS: Final = aiohttp.ClientTimeout(total=10)
_APPLY_ATTEMPTS: Final = 70


class Api:
    """An administrator's connection to the control plane's programs; an async context manager."""

    def __init__(self, layout: Layout, ports: Ports) -> None:
        self._server = ports.url(ports.api_server, scheme="https")
        self._tls = ssl.create_default_context(cafile=layout.certificate("ca"))
        self._tls.load_cert_chain(layout.certificate(ADMINISTRATOR), layout.key(ADMINISTRATOR))

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._tls), timeout=_SECONDS, headers={"Accept": "application/json"}
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()

    async def answers(self, url: str, containing: bytes = b"") -> bool:
        """Tell whether a GET of this URL is answered 200 with these bytes; False while nothing listens."""
        try:
            async with self._session.get(url) as answer:
                return answer.status == 200 and containing in await answer.read()
        except (aiohttp.ClientError, TimeoutError):
            return False

    async def is_ready(self) -> bool:
        """Tell whether kube-apiserver says it is ready."""
        return await self.answers(f"{self._server}/readyz")

    async def get(self, path: str) -> dict[str, Any] | None:
        """Return one object, or None while it does not exist or the server does not answer."""
        try:
            async with self._session.get(f"{self._server}{path}") as answer:
                value: dict[str, Any] = await answer.json()
                return value if answer.status == 200 else None
        except (aiohttp.ClientError, TimeoutError):
            return None

    async def accepts(self, path: str, body: Mapping[str, Any], containing: bytes) -> bool:
        """Tell whether a POST is answered 201 with an object holding these bytes; False on any refusal."""
        try:
            async with self._session.post(f"{self._server}{path}", json=body) as answer:
                return answer.status == 201 and containing in await answer.read()
        except (aiohttp.ClientError, TimeoutError):
            return False

    async def apply(self, path: str, body: Mapping[str, Any]) -> None:
        """Apply one object server-side; raise Refused with the server's own sentence if it does not accept it.

        What passes by itself is tried again for a minute: a kind registered a moment ago that is not served yet (404),
        a busy server (429, 5xx, no answer in time).
        """
        url = f"{self._server}{path}?fieldManager=lab&force=true"
        headers = {"Content-Type": "application/apply-patch+yaml"}
        said = "it did not answer"
        for attempt in range(_APPLY_ATTEMPTS):
            try:
                async with self._session.patch(url, data=json.dumps(body), headers=headers) as answer:
                    if answer.status in (200, 201):
                        return
                    said = (await answer.text())[:400]
                    if answer.status not in (404, 429, 500, 503, 504):
                        break
            except (aiohttp.ClientError, TimeoutError) as error:
                said = str(error) or said
            await asyncio.sleep(min(1.0, 0.05 * (attempt + 1)))
        raise Refused(f"kube-apiserver refused {path}: {said}; see its log with `md-lab logs kube-apiserver`")
