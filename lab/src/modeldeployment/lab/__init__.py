"""A real control plane as child processes, fleets of fake nodes, and benchmarks.

```python
from modeldeployment import lab

control_plane = lab.up(lab.Options(name="try"), lab.programs())
...
lab.down(control_plane.state)
```
"""

import os

from modeldeployment.lab import toolchain
from modeldeployment.lab.controlplane import Component, ControlPlane, Options, attach, down, state_folder, status, up
from modeldeployment.lab.errors import ControlPlaneError, LabError, ToolchainError

__all__ = [
    "Component",
    "ControlPlane",
    "ControlPlaneError",
    "LabError",
    "Options",
    "ToolchainError",
    "attach",
    "down",
    "programs",
    "state_folder",
    "status",
    "up",
]


def programs() -> toolchain.Toolchain:
    """Return the control plane's programs for this environment, silently building them on first use (minutes)."""
    return toolchain.ensure(os.environ, lambda _progress: None)
