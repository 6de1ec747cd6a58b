"""Paths in a Pod that more than one Part writes below, and values that more than one places."""

from typing import Any, Final

from modeldeployment.render.compose import Path

LABELS: Final[Path] = ("metadata", "labels")
ANNOTATIONS: Final[Path] = ("metadata", "annotations")
SPEC: Final[Path] = ("spec",)
MAIN: Final[Path] = ("spec", "containers", "main")
"""The engine's container."""
POD_ADDRESS: Final[dict[str, Any]] = {"valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
"""The Pod's own address, which only the kubelet knows."""
