"""Whole objects a person can read, and the command line by origin, for each router and shape.

`UPDATE_GOLDEN=1 pytest packages/router/tests/test_router_golden.py` writes them anew.
"""

import json
import os
from pathlib import Path

import pytest
from modeldeployment.api.choices import RouterName
from modeldeployment.router import FrontedRole, RouterRendering, front
from router_fronts import ROUTERS_AND_ENGINES, decode, encode, prefill, routed, server

GOLDEN = Path(__file__).parent / "golden"
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))


def shapes(engine: front.Engine) -> dict[str, tuple[FrontedRole, ...]]:
    events = engine.events
    pair = (prefill(events=events), decode())
    return {"server": (server(events=events),), "pair": pair, "encode": (*pair, encode())}


CASES = {
    f"{name.value}-{engine.tag}-{shape}": (name, roles, engine)
    for name, engine in ROUTERS_AND_ENGINES
    for shape, roles in shapes(engine).items()
}


def shown(rendering: RouterRendering) -> str:
    """The objects, with documents as texts a person can read, what status says, and every run with its reason."""
    lines = []
    for each in rendering.objects:
        data = each.get("data")
        lines.append(json.dumps({**each, "data": dict.fromkeys(data, "below")} if data else each, indent=2))
        for key, text in (data or {}).items():
            lines += [f"--- {key}", text.rstrip("\n")]
    contract = rendering.contract.model_dump(mode="json", by_alias=True, exclude_none=True)
    lines += ["--- status", json.dumps(contract, indent=2), "--- arguments"]
    lines += [f"{run.standing:<10} {' '.join(run.tokens)}\n           {run.why}" for run in rendering.runs]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("case", CASES)
def test_a_router_is_what_its_golden_file_shows(case: str) -> None:
    name, roles, engine = CASES[case]
    text = shown(routed(RouterName(name), *roles, engine=engine))
    golden = GOLDEN / f"{case}.txt"
    if UPDATE:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert golden.read_text(encoding="utf-8") == text
