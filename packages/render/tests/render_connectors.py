"""What tests of stores, legs and routers read off rendered Pods."""

import json
from typing import Any

from modeldeployment.api.modeldeployment import ModelDeployment
from modeldeployment.render import Facts, Seat, render
from render_worlds import ASCEND, deployment, facts, instance_type, joined, main, role, store

CACHE_FLAGS = ("--kv-transfer-config", "--kv-events-config", "--kv-cache-dtype")


def nvidia(*, stored: bool = True, transport: str = "tcp", **known: Any) -> Facts:
    """A cluster of NVIDIA nodes, with the store of facts rendering §14 B unless told otherwise."""
    return facts(**{"store": store(transport) if stored else None, **known})


def ascend(*, stored: bool = True, transport: str = "ascend", **known: Any) -> Facts:
    """A cluster of Ascend nodes."""
    return facts(instance_type(status=ASCEND), **{"store": store(transport) if stored else None, **known})


def pods(of: ModelDeployment, known: Facts) -> dict[str, dict[str, Any]]:
    """The Pod of each role's first seat, by the role's name."""
    return {each.name: each.template.pod(Seat(0, 0)) for each in render(of, known).roles}


def one(kind: str = "Server", known: Facts | None = None, *, cache: bool = True, **fields: Any) -> dict[str, Any]:
    """The Pod of a deployment of one role of this kind without a router."""
    engine = fields.pop("engine", "vLLM")
    of = deployment(role(kind=kind, **fields), engine=engine, spec=joined(cache=cache))
    return pods(of, known or nvidia())["server"]


def epd(router: str, *, cache: bool = False, engine: str = "vLLM", **halves: dict[str, Any]) -> ModelDeployment:
    """An Encode, a Prefill and a Decode role behind a router."""
    roles = [role(name, kind=name.title(), **halves.get(name, {})) for name in ("encode", "prefill", "decode")]
    return deployment(*roles, engine=engine, spec=joined(router=router, cache=cache))


def argv(pod: dict[str, Any]) -> list[str]:
    """The command line of its engine."""
    command: list[str] = main(pod)["command"]
    return command


def document(pod: dict[str, Any], flag: str = "--kv-transfer-config") -> Any:
    """The JSON behind a flag; None without the flag."""
    line = argv(pod)
    return json.loads(line[line.index(flag) + 1]) if flag in line else None


def flags(pod: dict[str, Any]) -> list[str]:
    """The operator's own flags about caches, in order."""
    return [token for token in argv(pod) if token in CACHE_FLAGS]


def env(pod: dict[str, Any]) -> dict[str, Any]:
    """Its variables in order; one that is no literal shows the field it reads."""
    found: dict[str, Any] = {}
    for entry in main(pod).get("env", []):
        assert entry["name"] not in found
        field = entry.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
        found[entry["name"]] = entry["value"] if field is None else field
    return found
