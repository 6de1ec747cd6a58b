"""Words of a YAML file and what kubectl reads them as."""

from collections.abc import Mapping
from typing import Any, Final

SCALARS: Final[Mapping[str, Any]] = {
    "yes": True,
    "off": False,
    "y": True,
    "nO": "nO",
    "0.30": 0.3,
    '"0.30"': "0.30",
    "2.0": 2,
    "1e3": 1000,
    "010": 8,
    "0x1F": 31,
    "1_000": 1000,
    "08": 8,
    "1:30": "1:30",
    "2024-01-01": "2024-01-01",
    "v1.2": "v1.2",
    "1.2.3": "1.2.3",
    "~": None,
    "": None,
    "=": "=",
    '"\\ud83d\\ude00"': "\U0001f600",
    "é": "é",
    "0b11": 3,
    "0o17": 15,
    "1.": 1,
    ".5": 0.5,
    "1_0.5": 10.5,
    "!!str 5": "5",
    "12345678901234567890123": 1.2345678901234568e22,
    "n": False,
    "NULL": None,
}
