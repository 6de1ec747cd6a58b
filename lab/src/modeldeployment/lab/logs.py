"""Showing the ends of log files, and following them."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from modeldeployment.lab.errors import tail

_POLL: Final = 0.2


def show(files: Mapping[str, Path], lines: int, *, follow: bool) -> None:
    """Print the last lines of each file; with `follow` go on for ever, each line led by its component's name."""
    sizes = {name: path.stat().st_size for name, path in files.items()}
    for name, path in files.items():
        if len(files) > 1:
            print(f"==> {name} ({path})")
        for line in tail(path, lines) if lines else ():
            print(line)
    while follow:
        time.sleep(_POLL)
        for name, path in files.items():
            sizes[name] = print_new(name if len(files) > 1 else "", path, sizes[name])


def print_new(name: str, path: Path, seen: int) -> int:
    """Print whole lines written after `seen` bytes; return how far it got. A shorter file has been started anew."""
    try:
        size = path.stat().st_size
        if size == seen:
            return seen
        with path.open("rb") as file:
            file.seek(seen if size > seen else 0)
            text = file.read()
            end = file.tell()
    except FileNotFoundError:
        return 0
    whole = text.rfind(b"\n") + 1
    for line in text[:whole].decode(errors="replace").splitlines():
        print(f"{name}: {line}" if name else line, flush=True)
    return end - (len(text) - whole)
