"""Run by an engine's own Python: answers what the engine's own parser makes of command lines.

`python conformance_parser.py vllm|sglang`, one JSON list of words per line on standard input. The first line of the
answer is the parser's table, then one line per command line: its values, or the error that ended it.

The parsers and the types they check with are the engines' own. They import torch at their first line and never use it,
and no index has a torch for CPUs alone, so what only a tensor needs is stood in for; vLLM does the same where it prints
its arguments into its documentation.
"""

import abc
import argparse
import contextlib
import dataclasses
import enum
import importlib
import importlib.abc
import importlib.machinery
import io
import json
import os
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

STOOD_IN_FOR = {
    "vllm": ("torch", "triton", "vllm.ir", "xgrammar", "llguidance"),
    "sglang": ("torch", "triton", "IPython"),
}


class Anything(abc.ABCMeta):
    """Makes classes that can be named, called, subclassed and asked for any attribute, and are false."""

    def __getattr__(cls, name: str) -> Any:
        """Return another such class."""
        if name.startswith(("__", "_abc_")):
            raise AttributeError(name)
        made = Anything(name, (), {"__module__": cls.__module__})
        setattr(cls, name, made)
        return made

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Decorate what is given, make a subclass's objects, and else answer itself."""
        if cls.__bases__ != (object,):
            return super().__call__(*args, **kwargs)
        decorated = len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type))
        return args[0] if decorated else cls

    def _itself(cls, *_: Any) -> Any:
        return cls

    def __bool__(cls) -> bool:
        """Be false: there is no such device."""
        return False

    def __iter__(cls) -> Iterator[Any]:
        """Have nothing in it."""
        return iter(())

    def __index__(cls) -> int:
        """Be none."""
        return 0

    __getitem__ = __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = __truediv__ = __neg__ = __enter__ = _itself

    def __exit__(cls, *_: object) -> None:
        """Leave a block."""


class StandIn(types.ModuleType):
    """A module with every name; but none for Ascend's devices, whose presence alone would be a claim."""

    def __getattr__(self, name: str) -> Any:
        """Return a class of that name."""
        if name == "__version__":
            return "2.13.0"
        if name.startswith("__") or name == "npu":
            raise AttributeError(name)
        made = Anything(name, (), {"__module__": self.__name__})
        setattr(self, name, made)
        return made


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules that are stood in for, and all below them."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def find_spec(self, fullname: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        """Answer for the modules named."""
        if any(fullname == name or fullname.startswith(f"{name}.") for name in self.names):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> StandIn:
        """Make one."""
        return StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Let it be a package."""
        module.__path__ = []


Parse = Callable[[list[str]], argparse.Namespace]


def vllm() -> tuple[argparse.ArgumentParser, Parse]:
    """Build the parser of `vllm serve` as vLLM's own main does, and check what it parsed as `serve` does."""
    arguments: Any = importlib.import_module("vllm.entrypoints.launchers.cli_args")
    flexible: Any = importlib.import_module("vllm.utils.argparse_utils").FlexibleArgumentParser
    main = flexible(description="vLLM CLI")
    serve = arguments.make_arg_parser(main.add_subparsers(required=False, dest="subparser").add_parser("serve"))

    def parse(words: list[str]) -> argparse.Namespace:
        program, *rest = words
        if program != "vllm":
            main.error(f"{program} is not vllm")
        parsed: argparse.Namespace = main.parse_args(rest)
        arguments.validate_parsed_serve_args(parsed)
        return parsed

    return serve, parse


def sglang() -> tuple[argparse.ArgumentParser, Parse]:
    """Build the parser of `python3 -m sglang.launch_server` as its `prepare_server_args` does."""
    os.environ["SGLANG_USE_CPU_ENGINE"] = "1"
    server_args: Any = importlib.import_module("sglang.srt.server_args").ServerArgs
    parser = argparse.ArgumentParser(prog="sglang serve")
    server_args.add_cli_args(parser)

    def parse(words: list[str]) -> argparse.Namespace:
        if words[:3] != ["python3", "-m", "sglang.launch_server"]:
            parser.error(f"{words[:3]} does not start sglang.launch_server")
        return parser.parse_args(words[3:])

    return parser, parse


def table(parser: argparse.ArgumentParser) -> list[dict[str, Any]]:
    """List every flag: its spellings, how many values it takes, its choices."""
    return [
        {
            "spellings": list(action.option_strings),
            "arity": "1" if action.nargs is None else str(action.nargs),
            "choices": [str(each) for each in action.choices or ()],
        }
        for action in parser._actions
        if action.option_strings
    ]


def plain(value: Any) -> Any:
    """Turn a parsed value into JSON: a configuration becomes its fields, and its type under the empty name."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value) if each.init}
        return {"": type(value).__name__} | fields
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def answer(parse: Parse, words: list[str]) -> dict[str, Any]:
    """Parse one command line."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return {"values": {name: plain(value) for name, value in vars(parse(words)).items()}}
    except SystemExit:
        return {"refused": said.getvalue().partition(" error: ")[2].strip()}
    except (ValueError, TypeError) as error:
        return {"refused": str(error)}


def main() -> None:
    """Answer until standard input ends."""
    (engine,) = sys.argv[1:]
    sys.meta_path.insert(0, Finder(STOOD_IN_FOR[engine]))
    answers, sys.stdout = sys.stdout, sys.stderr
    parser, parse = {"vllm": vllm, "sglang": sglang}[engine]()
    print(json.dumps(table(parser)), file=answers)
    for line in sys.stdin:
        print(json.dumps(answer(parse, json.loads(line))), file=answers)


if __name__ == "__main__":
    main()
