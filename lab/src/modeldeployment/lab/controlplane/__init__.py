"""A real Kubernetes control plane, with Kueue and kwok, as child processes on loopback.

In causal order: `Options` say what to start, `up` starts it and returns a `ControlPlane`, `attach` finds one that
runs, `status` looks at it, `ControlPlane.restart`, `kill`, `pause`, `resume` and `compact` disturb it, `down` stops it.
What a ClusterQueue must cover is said in `quota`.
"""

from modeldeployment.lab.controlplane.handle import (
    ComponentStatus,
    ControlPlane,
    Status,
    attach,
    down,
    status,
    up,
)
from modeldeployment.lab.controlplane.options import DEFAULT_NAME, Component, Options, Ports, component, state_folder
from modeldeployment.lab.controlplane.record import ComponentPhase, Phase

__all__ = [
    "DEFAULT_NAME",
    "Component",
    "ComponentPhase",
    "ComponentStatus",
    "ControlPlane",
    "Options",
    "Phase",
    "Ports",
    "Status",
    "attach",
    "component",
    "down",
    "state_folder",
    "status",
    "up",
]
