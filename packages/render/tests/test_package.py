import doctest
import subprocess
import sys
from pathlib import Path

import modeldeployment.render as render


def test_the_readmes_example_runs() -> None:
    readme = Path(__file__).parent.parent / "README.md"
    result = doctest.testfile(str(readme), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 3
    assert result.failed == 0


def test_importing_it_pulls_in_neither_a_network_nor_the_models() -> None:
    program = (
        "import sys, modeldeployment.render\n"
        "heavy = {'kubernetes', 'aiohttp', 'httpx', 'asyncio', 'hypothesis', 'yaml', 'pydantic'}\n"
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_exported_name_exists_and_the_readme_names_it() -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    assert [name for name in render.__all__ if not hasattr(render, name) or f"`{name}`" not in readme] == []
