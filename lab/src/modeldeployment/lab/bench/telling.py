"""Saying what goes on while it is measured."""

from collections.abc import Callable
from typing import TypeAlias

Tell: TypeAlias = Callable[[str], None]
"""Takes one line for the person at the terminal."""
