"""What a Pod of a deployment runs, read from the Pod as the API server holds it: pure.

Sources: facts rendering §7 and §8, facts router-rendering §5.
"""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from modeldeployment.api import keys
from modeldeployment.api.choices import EngineName
from modeldeployment.lab.engines.behaviour import Half, Transfer
from modeldeployment.lab.routers.commanding import CONTAINER
from modeldeployment.lab.routers.picking import PICKER, PROXY, SIDECAR
from modeldeployment.lab.serving.hooks import ENGINE

JSON = Mapping[str, Any]

DEFAULT_GRACE: Final = 30
_SGLANG: Final = "sglang.launch_server"


@dataclass(frozen=True, slots=True)
class RunsEngine:
    """A member that answers: the engine, where it listens, what it serves, and its part in a pair.

    `proxied` is the container of the routing proxy before it, None where there is none.
    """

    engine: EngineName
    ports: tuple[int, ...]
    served: str
    half: Half
    transfer: Transfer
    proxied: JSON | None = None


@dataclass(frozen=True, slots=True)
class RunsRouter:
    """A router of one program: its container, the account it finds Pods as, and the path that says it is ready."""

    container: JSON
    account: str
    readiness: str


@dataclass(frozen=True, slots=True)
class RunsPicker:
    """The router of two programs: its containers, the ConfigMap of their documents, and whom it finds Pods as."""

    proxy: JSON
    picker: JSON
    config: str
    account: str


@dataclass(frozen=True, slots=True)
class RunsSilently:
    """A Pod that nobody can ask: a member beside the leader, or what the lab has no program for."""


Runs = RunsEngine | RunsRouter | RunsPicker | RunsSilently


def runs(pod: JSON) -> Runs:
    """Answer what a Pod runs."""
    labels = pod["metadata"].get("labels", {})
    containers = {each["name"]: each for each in pod["spec"]["containers"]}
    if keys.ROUTER in labels:
        if PROXY in containers and PICKER in containers:
            return _picker(pod["spec"], containers)
        router = containers.get(CONTAINER)
        if router is None or len(router.get("command", ())) != 1:
            return RunsSilently()
        path = router.get("readinessProbe", {}).get("httpGet", {}).get("path", "/health")
        return RunsRouter(router, pod["spec"].get("serviceAccountName", "default"), path)
    if ENGINE not in containers or labels.get(keys.MEMBER_INDEX, "0") != "0":
        return RunsSilently()
    beside = {each["name"]: each for each in pod["spec"].get("initContainers", ())} | containers
    return _engine(containers[ENGINE], pod["metadata"].get("annotations", {}), beside.get(SIDECAR))


def grace(pod: JSON) -> float:
    """Answer how many seconds a Pod that is being deleted has, from its deletion on."""
    stated = pod["metadata"].get("deletionGracePeriodSeconds")
    return float(pod["spec"].get("terminationGracePeriodSeconds", DEFAULT_GRACE) if stated is None else stated)


def _picker(spec: JSON, containers: Mapping[str, JSON]) -> RunsPicker:
    (config,) = (each["configMap"]["name"] for each in spec.get("volumes", ()) if "configMap" in each)
    return RunsPicker(containers[PROXY], containers[PICKER], config, spec.get("serviceAccountName", "default"))


def _engine(container: JSON, annotations: Mapping[str, str], proxied: JSON | None) -> RunsEngine:
    words = [*container.get("command", ()), *container.get("args", ())]
    sglang = _SGLANG in words
    first = annotations.get(keys.SCRAPE_PORT)
    numbers = [each["containerPort"] for each in container.get("ports", ()) if each.get("protocol") in (None, "TCP")]
    ports = dict.fromkeys([*([int(first)] if first else ()), *numbers])
    return RunsEngine(
        engine=EngineName.SGLANG if sglang else EngineName.VLLM,
        ports=tuple(ports),
        served=_served(words),
        half=Half(_value(words, "--disaggregation-mode") or Half.UNIFIED),
        transfer=Transfer.NONE if sglang else _transfer(words),
        proxied=proxied,
    )


def _served(words: Sequence[str]) -> str:
    named = _value(words, "--served-model-name") or _value(words, "--model-path")
    if named:
        return named
    after = [word for before, word in itertools.pairwise(words) if before == "serve"]
    return after[0] if after else "model"


def _transfer(words: Sequence[str]) -> Transfer:
    try:
        connector = str(json.loads(_value(words, "--kv-transfer-config") or "{}").get("kv_connector", ""))
    except (ValueError, AttributeError):
        return Transfer.NONE
    return Transfer.NIXL if "Nixl" in connector else Transfer.MOONCAKE if "Mooncake" in connector else Transfer.NONE


def _value(words: Sequence[str], flag: str) -> str:
    """What follows a flag, after an equals sign or as a word of its own; empty where the flag is not there."""
    for at, word in enumerate(words):
        if word == flag and at + 1 < len(words):
            return words[at + 1]
        if word.startswith(f"{flag}="):
            return word.partition("=")[2]
    return ""
