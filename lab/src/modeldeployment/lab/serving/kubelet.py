"""Engines and routers for the Pods of a namespace: real addresses, real routers, fake engines.

kwok plays Pods that nobody can reach. Here every Pod of a deployment in one namespace gets an address of the lab's Pod
network at which its program listens: a fake engine where an engine was rendered, the real router with its rendered
arguments where a router was, and the real proxies of `llm-d-router` where its picker is at hand. The API server
publishes them in EndpointSlices as it would any other.
"""

import asyncio
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from modeldeployment.api import keys
from modeldeployment.kube import Client, Kind, Reflector, Store, Verb, custom, request_for
from modeldeployment.kube.kinds import CONFIG_MAPS
from modeldeployment.kube.shapes import Custom
from modeldeployment.lab import identities
from modeldeployment.lab.controlplane import ControlPlane
from modeldeployment.lab.engines import Behaviour, EngineServer, FakeEngine, addresses
from modeldeployment.lab.packaged import Program
from modeldeployment.lab.routers import RunningPicker, RunningRouter, older, picking
from modeldeployment.lab.serving import policies
from modeldeployment.lab.serving.balancing import ServiceAddress
from modeldeployment.lab.serving.errors import NotServed
from modeldeployment.lab.serving.picked import PickerInPod, ProxiedInPod
from modeldeployment.lab.serving.playing import PlayedPod
from modeldeployment.lab.serving.pods import JSON, RunsEngine, RunsPicker, RunsRouter, runs
from modeldeployment.lab.serving.pools import pooled
from modeldeployment.lab.serving.programs import EngineInPod, InPod, RouterInPod, Silent
from modeldeployment.lab.toolchain.picker import Picker

_PODS: Final[Kind[Custom]] = custom("", "v1", "pods", "Pod")
_PLENTY: Final = Behaviour(tokens=1_000_000)
"""An engine that gives a request as many tokens as it asks for."""


class Serving:
    """Plays the Pods of deployments in one namespace while it is open, in the place of kwok.

    `programs` answers a packaged program by its name, `picker` those of `llm-d-router`; without it its Pods are silent,
    and nothing stands before its decoders. `behaviour` is that of every new engine and can be changed. Entering it
    before Pods are created makes it their kubelet; Pods that were there stay kwok's.
    """

    def __init__(
        self,
        client: Client,
        plane: ControlPlane,
        namespace: str,
        folder: Path,
        programs: Callable[[str], Program],
        *,
        behaviour: Behaviour = _PLENTY,
        picker: Callable[[], Picker] | None = None,
        seed: int | None = None,
    ) -> None:
        self.namespace = namespace
        self.behaviour = behaviour
        self.engines = EngineServer(seed=seed)
        self.history: list[tuple[str, FakeEngine]] = []
        self._client = client
        self._plane = plane
        self._folder = folder
        self._programs = programs
        self._picker = picker
        self._free: Iterator[str] = addresses.candidates(secrets.randbits(32) if seed is None else seed)
        self._played: dict[str, PlayedPod] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._failed: list[BaseException] = []
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as opened:
            await opened.enter_async_context(self.engines)
            await policies.install(self._client, self.namespace)
            opened.push_async_callback(policies.remove, self._client, self.namespace)
            opened.push_async_callback(self._stop)
            store: Store[Custom] = Store(on_change=[self._heard])
            reflector = Reflector(self._client, _PODS, store, self.namespace, labels=f"{keys.NAME}={keys.NAME_VALUE}")
            watching = asyncio.create_task(reflector.run())
            opened.push_async_callback(_cancel, watching)
            await store.wait_synced()
            self._open = opened.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()
        if self._failed:
            raise ExceptionGroup("Pods that could not be played", [e for e in self._failed if isinstance(e, Exception)])

    # --- what runs ---

    def played(self, pod: str) -> PlayedPod:
        """Answer the Pod of a name as it is played. Raises NotServed."""
        for each in self._played.values():
            if each.name == pod and each.report is not None:
                return each
        names = sorted(each.name for each in self._played.values() if each.report is not None)
        raise NotServed(f"no Pod {pod!r} runs in {self.namespace}; those that do are {', '.join(names) or 'none'}")

    def engine(self, pod: str) -> FakeEngine:
        """Answer the engine in a Pod. Raises NotServed."""
        inside = self.played(pod).inside
        if isinstance(inside, EngineInPod | ProxiedInPod) and inside.engine is not None:
            return inside.engine
        raise NotServed(f"Pod {pod} runs no engine")

    def router(self, pod: str) -> RunningRouter | RunningPicker:
        """Answer the router in a Pod. Raises NotServed."""
        inside = self.played(pod).inside
        if isinstance(inside, RouterInPod | PickerInPod) and inside.router is not None:
            return inside.router
        raise NotServed(f"Pod {pod} runs no router")

    def routers(self, deployment: str) -> dict[str, RunningRouter | RunningPicker]:
        """Answer the routers of a deployment that run and stay, by Pod."""
        found: dict[str, RunningRouter | RunningPicker] = {}
        for each in self._played.values():
            inside = each.inside
            mine = each.pod["metadata"].get("labels", {}).get(keys.INSTANCE) == deployment and not each.leaving
            if mine and isinstance(inside, RouterInPod | PickerInPod) and inside.router is not None:
                found[each.name] = inside.router
        return found

    def names(self) -> dict[str, str]:
        """Answer the Pod of every engine that ever ran, by what its answers call it."""
        return {f"{engine.address}/{life}": pod for pod, engine in self.history for life in range(engine.life + 1)}

    def service(self, name: str) -> ServiceAddress:
        """Answer the address of a Service of the namespace, to be entered."""
        return ServiceAddress(self._client, self.namespace, name, self._free)

    # --- what tests do ---

    def restart(self, pod: str, *, seconds: float = 0.2) -> None:
        """Let the container of a Pod crash, and start again some seconds later. Raises NotServed."""
        self.played(pod).restart(seconds)

    async def lose(self, node: str) -> None:
        """Let a node lose power: what runs there is gone, and nobody reports it."""
        lost = [uid for uid, each in self._played.items() if each.node == node]
        for uid in lost:
            await _cancel(self._tasks[uid])

    # --- hearing of Pods ---

    def _heard(self, old: Custom | None, new: Custom | None) -> None:
        thing = new or old
        assert thing is not None
        uid = thing.metadata.uid
        if new is None:
            self._played.pop(uid, None)
            if (task := self._tasks.pop(uid, None)) is not None:
                task.cancel()
            return
        pod = _tree(new)
        if uid in self._played:
            self._played[uid].heard(pod)
        elif policies.HANDS_OFF.items() <= pod["metadata"].get("annotations", {}).items():
            self._played[uid] = PlayedPod(pod, self._inside(pod), self._client, self._began)
            self._tasks[uid] = asyncio.create_task(self._played[uid].run())
            self._tasks[uid].add_done_callback(self._done)

    def _inside(self, pod: JSON) -> InPod:
        folder = self._folder / str(pod["metadata"]["name"])
        match runs(pod):
            case RunsEngine() as engine:
                inside = partial(EngineInPod, engine, self.engines, self.behaviour, self._free)
                if engine.proxied is None or self._picker is None:
                    return inside()
                return ProxiedInPod(pod, engine, inside, self._picker, folder)
            case RunsRouter() as router:
                kubeconfig = partial(self._kubeconfig, router.account)
                return RouterInPod(router, self._programs, kubeconfig, folder, self._free)
            case RunsPicker() as picked if (picker := self._picker) is not None:
                given = partial(self._given, picked)
                return PickerInPod(pod, picked, lambda: (picker(), self._programs("envoy")), given, folder, self._free)
            case _:
                return Silent(self._free)

    async def _given(self, picked: RunsPicker, picker: Picker) -> tuple[Path, Mapping[str, str]]:
        """What a picker is given: a kubeconfig of its account, and its documents; and a pool where it wants one."""
        request = request_for(Verb.GET, CONFIG_MAPS, self.namespace, picked.config)
        data: dict[str, str] = msgspec.json.decode(await self._client.raw(request))["data"]
        if picker.pinned:
            labels, ports = older.selector(data[picking.SELECTOR]), picking.target_ports(data)
            await pooled(self._client, self.namespace, picked.config, labels, ports, picked.account)
        return await self._kubeconfig(picked.account), data

    async def _kubeconfig(self, account: str) -> Path:
        """Write a kubeconfig of an account's own rights, and no others."""
        bearer = await identities.token(self._client, account, self.namespace)
        return identities.write_kubeconfig(self._plane, bearer, self._folder / f"{account}.kubeconfig")

    def _began(self, played: PlayedPod) -> None:
        if isinstance(played.inside, EngineInPod | ProxiedInPod) and played.inside.engine is not None:
            self.history.append((played.name, played.inside.engine))

    def _done(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failed.append(error)

    async def _stop(self) -> None:
        for task in list(self._tasks.values()):
            await _cancel(task)


def _tree(pod: Custom) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "name": pod.metadata.name,
        "namespace": pod.metadata.namespace,
        "uid": pod.metadata.uid,
        "labels": pod.metadata.labels,
        "annotations": pod.metadata.annotations,
        "deletionGracePeriodSeconds": pod.metadata.deletion_grace_period_seconds,
    }
    if pod.metadata.deletion_timestamp is not None:
        metadata["deletionTimestamp"] = pod.metadata.deletion_timestamp
    return {"metadata": metadata, "spec": msgspec.json.decode(pod.spec), "status": msgspec.json.decode(pod.status)}


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
