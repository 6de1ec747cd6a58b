"""Whole objects a person can read, beside the list of which Part placed what.

`UPDATE_GOLDEN=1 pytest packages/render/tests/test_golden.py` writes them anew.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from modeldeployment.render import Rendering, Seat, render
from modeldeployment.render.holes import Hole
from modeldeployment.render.parts.drain import PROGRAM
from render_worlds import deployment, facts, instance_type, role

GOLDEN = Path(__file__).parent / "golden"
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))

ASCEND = {"manufacturer": "ascend", "family": "910B", "memory": "64Gi", "runtimeVersions": ["8.2", "9.0"]}
CASES: dict[str, Any] = {
    "vllm-nvidia": lambda: render(deployment(role(resources={"accelerator": 2})), facts()),
    "vllm-nvidia-two-members": lambda: render(
        deployment(
            role(size=2, replicas=2, resources={"accelerator": 8}, topology={"requiredLevel": "example.com/rack"})
        ),
        facts(runtime_classes=frozenset({"nvidia"})),
    ),
    "sglang-ascend-two-members": lambda: render(
        deployment(role(size=2, image=None, resources={"accelerator": 8}), engine="SGLang", version="0.5.18"),
        facts(instance_type(status=ASCEND)),
    ),
    "vllm-ascend-slice": lambda: render(
        deployment(role(image=None, resources={"acceleratorSlicedMemoryPercentage": 25}), version="0.23.0"),
        facts(instance_type(status=ASCEND)),
    ),
    "sglang-tls-own-port": lambda: render(
        deployment(
            role(
                image="lmsysorg/sglang:v0.5.18",
                extraArgs=["--port=9100", "--ssl-certfile", "/tls/tls.crt", "--ssl-keyfile", "/tls/tls.key"],
                additionalVolumes=[{"mountPath": "/tls", "secret": {"name": "serving-tls"}, "readOnly": True}],
            ),
            engine="SGLang",
        ),
        facts(),
    ),
    "vllm-overlay": lambda: render(
        deployment(
            role(
                ports=[{"port": 9000}, {"port": 9001, "protocol": "UDP"}],
                imagePullPolicy="IfNotPresent",
                imagePullSecrets=[{"name": "registry"}],
                privileged=True,
                env=[{"name": "HF_HOME", "value": "/models"}],
                extraArgs=["--max-model-len", "32768"],
                additionalVolumes=[{"mountPath": "/models", "hostPath": {"path": "/srv/models"}}],
                terminationGracePeriodSeconds=120,
            )
        ),
        facts(),
    ),
    "take-over-two-members": lambda: render(
        deployment(role(size=2, command=["/opt/serve", "--listen", "8000"], env=[{"name": "MODE", "value": "own"}])),
        facts(),
    ),
}


def objects(rendering: Rendering) -> str:
    """The Services and the Pods of each role's first replica; the hook's program is named, not repeated."""
    shown = {
        "endpoint": rendering.endpoint,
        "notices": [str(notice) for notice in rendering.notices],
        "services": rendering.services,
        "pods": [only.template.pod(Seat(0, member)) for only in rendering.roles for member in range(only.size)],
    }
    return json.dumps(shown, indent=2).replace(json.dumps(PROGRAM), '"<programs/drain_hook.py>"') + "\n"


def origins(rendering: Rendering) -> str:
    """Every placed value of every role with its Part and whose it is."""
    lines = []
    for only in rendering.roles:
        for path, placed in only.placed.items():
            value = placed.value.name if isinstance(placed.value, Hole) else json.dumps(placed.value, default=str)
            value = value.replace(json.dumps(PROGRAM), "<programs/drain_hook.py>")
            lines.append(f"{placed.part:<18} {placed.standing:<10} {' > '.join(path)} = {value}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("case", CASES)
def test_a_rendering_is_what_its_golden_files_show(case: str) -> None:
    rendering = CASES[case]()
    for name, text in ((f"{case}.json", objects(rendering)), (f"{case}.parts.txt", origins(rendering))):
        golden = GOLDEN / name
        if UPDATE:
            golden.write_text(text, encoding="utf-8")
        assert golden.read_text(encoding="utf-8") == text
