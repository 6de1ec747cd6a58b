"""Whom a testimony asks, and what it looks up: Pods by UID, router processes and engines by address, nobody else."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Final

import msgspec
from aiohttp import ClientSession

from modeldeployment.api import RoleKind, RouterName, keys, scraping
from modeldeployment.kube import Client, fetching, shapes
from modeldeployment.kube.fetching import Fetched
from modeldeployment.reconcile.deciding.seen import OwnedKind
from modeldeployment.reconcile.processes import Process
from modeldeployment.reconcile.retiring.evidence import Inquiry
from modeldeployment.reconcile.watching import Key, Watched
from modeldeployment.render import DEFAULT_PORT
from modeldeployment.router import LISTEN_PORT, METRICS_PORT
from modeldeployment.router.withdrawal import Ask, Door, Heard

LARGEST: Final = 2**22
"""Bytes of the largest answer of a router that is read: a list of a thousand workers is one of them."""
_HEADLESS: Final = "None"
_ROUTERS: Final = frozenset(RouterName)


class _ServiceSpec(msgspec.Struct, rename="camel"):
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    selector: dict[str, str] = {}


class _Role(msgspec.Struct):
    kind: str = RoleKind.SERVER.value


class _Spec(msgspec.Struct):
    roles: list[_Role] = []


_service = msgspec.json.Decoder(_ServiceSpec)
_spec = msgspec.json.Decoder(_Spec)


class Sources:
    """What all testimonies share: the stores, the API server, one session, and how many requests go at once."""

    def __init__(
        self,
        client: Client,
        watched: Watched,
        http: ClientSession,
        clock: Callable[[], datetime],
        at_once: int,
    ) -> None:
        self.client = client
        self.clock = clock
        self._watched = watched
        self._http = http
        self._free = asyncio.Semaphore(at_once)

    # --- over HTTP ---

    async def ask(self, process: Process, ask: Ask) -> Heard:
        """Send a request to a router process, with its key where it has one and the request is not for its numbers."""
        port = LISTEN_PORT if ask.door is Door.REQUESTS else METRICS_PORT
        keyed = process.key is not None and ask.door is Door.REQUESTS
        async with self._free:
            fetched = await fetching.fetch(
                self._http,
                f"http://{scraping.host(process.address)}:{port}{ask.path}",
                ask.method,
                body=ask.body,
                headers={"Authorization": f"Bearer {process.key}"} if keyed else None,
                largest=LARGEST,
            )
        return Heard(ask, fetched.status, fetched.body, fetched.why)

    async def read(self, url: str) -> Fetched:
        """Read an engine's numbers."""
        async with self._free:
            return await fetching.fetch(self._http, url)

    # --- out of the stores ---

    def pod(self, uid: str) -> shapes.Pod | None:
        """Answer a Pod by its UID; None where it is gone."""
        return next(iter(self._watched.pods.by_index("uid", uid)), None)

    def pods(self, uids: Collection[str]) -> tuple[shapes.Pod, ...]:
        """Answer those Pods that are there, by name."""
        found = (self.pod(uid) for uid in uids)
        return tuple(sorted((each for each in found if each is not None), key=lambda each: each.metadata.name))

    def routers(self) -> Mapping[Key, tuple[RouterName, tuple[shapes.Pod, ...]]]:
        """Answer the Pods that say that they run a router, by the deployment they say that it is of."""
        found: dict[tuple[Key, RouterName], list[shapes.Pod]] = {}
        for pod in self._watched.pods.items():
            said = pod.metadata.labels.get(keys.ROUTER)
            if said in _ROUTERS and pod.status.pod_ip:
                key = Key(pod.metadata.namespace, pod.metadata.labels.get(keys.INSTANCE, ""))
                found.setdefault((key, RouterName(said)), []).append(pod)
        return {key: (router, tuple(pods)) for (key, router), pods in found.items()}

    def port(self, inquiry: Inquiry, uid: str) -> int:
        """Answer where routers reach a member: where its role is not rendered any more, at the port of its numbers."""
        if inquiry.port is not None:
            return inquiry.port
        pod = self.pod(uid)
        said = pod.metadata.annotations.get(keys.SCRAPE_PORT, "") if pod is not None else ""
        return int(said[:6]) if said.isascii() and said.isdigit() else DEFAULT_PORT

    def peers(self, key: Key, inquiry: Inquiry, *, paired: bool) -> bool:
        """Whether others of this kind should be behind the router: of any kind, where it knows no pair."""
        return any(
            (not paired or pod.metadata.labels.get(keys.ROLE_KIND) == inquiry.kind.label)
            and pod.metadata.uid not in inquiry.members
            and (member := self._watched.members.of(pod)).eligible
            and member.ready
            and not member.leaving
            for pod in self._owned(key)
        )

    def addresses(self, key: Key, members: Collection[str]) -> tuple[str, ...]:
        """Answer where eligible Pods are, and these members."""
        return tuple(
            pod.status.pod_ip
            for pod in self._owned(key)
            if pod.status.pod_ip
            and (pod.metadata.uid in members or pod.metadata.labels.get(keys.ELIGIBLE) == keys.TRUE)
            and pod.metadata.deletion_timestamp is None
        )

    def ready(self, key: Key, but: Collection[str]) -> Mapping[str, shapes.Pod]:
        """Answer the Pods that nothing keeps from being sent requests, but for these members, by address."""
        found = ((self._watched.members.of(pod), pod) for pod in self._owned(key))
        return {
            pod.status.pod_ip: pod
            for member, pod in found
            if member.eligible and member.ready and not member.leaving and member.uid not in but and pod.status.pod_ip
        }

    def roles(self, key: Key) -> Mapping[str, str]:
        """Answer the role of each Pod of a deployment, by its address and by its name."""
        named = ((each, pod) for pod in self._owned(key) for each in (pod.metadata.name, pod.status.pod_ip) if each)
        return {each: pod.metadata.labels.get(keys.COMPONENT, "") for each, pod in named}

    def encodes(self, key: Key) -> bool:
        """Whether a deployment has an Encode role."""
        stored = self._watched.deployments.get(key.namespace, key.name)
        try:
            roles = _spec.decode(stored.spec).roles if stored is not None else []
        except msgspec.DecodeError:
            return False
        return any(role.kind == RoleKind.ENCODE for role in roles)

    def services(self, key: Key) -> tuple[str, ...]:
        """Answer the Services of a deployment that send requests: those for peers alone have no address."""
        stored = self._watched.deployments.get(key.namespace, key.name)
        uid = stored.metadata.uid if stored is not None else ""
        found = self._watched.owned[OwnedKind.SERVICE].by_index("owner", uid)
        return tuple(sorted(each.metadata.name for each in found if _sends(each.spec)))

    def _owned(self, key: Key) -> tuple[shapes.Pod, ...]:
        stored = self._watched.deployments.get(key.namespace, key.name)
        return self._watched.pods.by_index("owner", stored.metadata.uid) if stored is not None else ()


def _sends(spec: msgspec.Raw) -> bool:
    try:
        service = _service.decode(spec)
    except msgspec.DecodeError:
        return True
    return service.cluster_ip != _HEADLESS or keys.ELIGIBLE in service.selector
