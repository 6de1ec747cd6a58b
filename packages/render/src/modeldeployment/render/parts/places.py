"""Paths in a Pod that more than one Part writes below."""

from typing import Final

from modeldeployment.render.compose import Path

LABELS: Final[Path] = ("metadata", "labels")
ANNOTATIONS: Final[Path] = ("metadata", "annotations")
SPEC: Final[Path] = ("spec",)
MAIN: Final[Path] = ("spec", "containers", "main")
"""The engine's container."""
