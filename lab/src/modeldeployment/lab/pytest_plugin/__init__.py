"""The lab as pytest fixtures: name it in a root conftest.py, `pytest_plugins = ["modeldeployment.lab.pytest_plugin"]`.

One control plane serves the whole run, pytest-xdist's workers included; it starts when the first test asks for it and
ends with the run, killed or not. Each test gets a namespace of its own. A failing test shows what was in it.
"""

from .fixtures import (
    ProvideFleet,
    await_account,
    control_plane,
    kube_client,
    namespace,
    own_control_plane,
    provide_fleet,
    queues,
)
from .hooks import (
    pytest_configure_node,
    pytest_runtest_makereport,
    pytest_sessionfinish,
    pytest_testnodedown,
)
from .programs import ObtainProgram, program

__all__ = [
    "ObtainProgram",
    "ProvideFleet",
    "await_account",
    "control_plane",
    "kube_client",
    "namespace",
    "own_control_plane",
    "program",
    "provide_fleet",
    "pytest_configure_node",
    "pytest_runtest_makereport",
    "pytest_sessionfinish",
    "pytest_testnodedown",
    "queues",
]
