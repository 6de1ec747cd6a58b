"""What packages export, and what they cost to import."""

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest

PACKAGES = ("api", "router", "render", "kube", "reconcile", "scaler", "admission", "operator", "lab")


@pytest.mark.parametrize("package", PACKAGES)
def test_a_front_door_exports_what_it_names(package: str) -> None:
    module = importlib.import_module(f"modeldeployment.{package}")
    exported: list[str] = list(getattr(module, "__all__", []))
    assert [name for name in exported if not hasattr(module, name)] == []
    assert len(set(exported)) == len(exported)
    assert (module.__doc__ or "").strip()


@pytest.mark.parametrize("package", PACKAGES)
def test_a_front_door_imports_what_it_exports_or_uses(package: str) -> None:
    module = importlib.import_module(f"modeldeployment.{package}")
    source = ast.parse(inspect.getsource(module))
    imported = {
        alias.asname or alias.name
        for node in source.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("modeldeployment")
        for alias in node.names
    }
    used = {node.id for node in ast.walk(source) if isinstance(node, ast.Name)}
    assert imported <= set(getattr(module, "__all__", [])) | used


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_says_what_it_is(package: str) -> None:
    module = importlib.import_module(f"modeldeployment.{package}")
    silent = [
        name
        for name in getattr(module, "__all__", [])
        if (thing := getattr(module, name)) is not None
        and (inspect.isclass(thing) or inspect.isroutine(thing) or inspect.ismodule(thing))
        and not (inspect.getdoc(thing) or "").strip()
    ]
    assert silent == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_says_what_it_is_for(package: str) -> None:
    silent = [module.__name__ for module in _modules(package) if not (module.__doc__ or "").strip()]
    assert silent == []


@pytest.mark.parametrize("package", ["api", "router", "render"])
def test_a_pure_package_brings_no_network_and_no_event_loop(package: str) -> None:
    program = (
        f"import sys, modeldeployment.{package}\n"
        "heavy = {'kubernetes', 'aiohttp', 'asyncio', 'httpx', 'urllib3', 'yarl', 'msgspec', 'structlog', 'typer'}\n"
        "print(*sorted(heavy & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""


def test_render_brings_no_third_party() -> None:
    program = (
        "import sys\nbefore = set(sys.modules)\nimport modeldeployment.render\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(name for name in new - sys.stdlib_module_names if not name.startswith('_')))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["modeldeployment"]


def _modules(package: str) -> list[ModuleType]:
    door = importlib.import_module(f"modeldeployment.{package}")
    names = [each.name for each in pkgutil.walk_packages(door.__path__, f"{door.__name__}.")]
    return [door, *(importlib.import_module(name) for name in names if not name.endswith("__main__"))]
