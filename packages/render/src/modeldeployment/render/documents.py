"""How a document stands on a command line or in an annotation: compact JSON, keys in the order they were put."""

import json
from collections.abc import Callable
from typing import Any, Final

compact: Final[Callable[[Any], str]] = json.JSONEncoder(separators=(",", ":")).encode
