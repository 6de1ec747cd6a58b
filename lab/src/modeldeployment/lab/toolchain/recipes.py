"""What is built: programs, versions, link flags, and the few source lines changed (facts control-plane §1, §2).

No source of another project is kept here: a change is the old line and the new one, and it is made
on a copy taken from the Go module cache at build time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

from modeldeployment.lab.errors import SourceChanged

MINIMUM_GO: Final = (1, 26)
ETCD_VERSION: Final = "3.6.16"
KUBERNETES_VERSION: Final = "1.36.3"
KWOK_VERSION: Final = "0.8.0"
KUEUE_VERSION: Final = "0.18.4"
PICKER_VERSION: Final = "0.7.1"
"""The newest picker whose module and checksums are published where the others are; routers run 0.10.0."""

GROUPS_VERSION: Final = "0.9.0"
PROMTOOL_VERSION: Final = "3.13.5"
"""Prometheus' own; its Go module counts 0.313.5."""

KUEUE_CONFIG: Final = "kueue-config"
"""Folder beside the programs with Kueue's own CRDs and webhook manifests."""

LOOPBACK_ENDPOINTS: Final = "LAB_ALLOW_LOOPBACK_ENDPOINTS"
"""Variable that makes the changed kube-apiserver accept EndpointSlices with loopback addresses."""

METRICS_CERTIFICATES: Final = "KUEUE_METRICS_CERT_DIR"
"""Variable that tells the changed kueue where its metrics certificate lies."""


@dataclass(frozen=True, slots=True)
class Change:
    """One line of `file` replaced; `old` must occur exactly once as a whole line."""

    file: str
    old: str
    new: str

    def apply(self, text: str) -> str:
        """Return the changed text, or raise SourceChanged if the old line is not there exactly once."""
        lines = text.split("\n")
        count = lines.count(self.old)
        if count != 1:
            raise SourceChanged(
                f"{self.file}: the line {self.old.strip()!r} occurs {count} times instead of once; "
                "the recipe was written for another version of this source, so pin the version it names"
            )
        lines[lines.index(self.old)] = self.new
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class SourceCopy:
    """Parts of a module copied out of the module cache before building.

    `replaces` says how the copy is used: True makes it stand in for the module itself (go.mod replace),
    False puts its files beside go.mod as the main package.
    """

    module: str
    version: str
    parts: tuple[str, ...]
    replaces: bool
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """One executable: its package path inside the family's module, link stamps, and seconds on a cold cache."""

    name: str
    package: str
    stamps: tuple[tuple[str, str], ...]
    weight: int

    @property
    def link_flags(self) -> str:
        """The value of go build -ldflags: symbol tables dropped, version variables set."""
        return " ".join(("-s -w", *(f"-X {variable}={value}" for variable, value in self.stamps)))


@dataclass(frozen=True, slots=True)
class Family:
    """Programs that share one pinned go.mod and go.sum (package data under modules/<name>).

    `tags` are build tags, which leave out what no test of ours needs.
    """

    name: str
    programs: tuple[Program, ...]
    source: SourceCopy | None = None
    tags: tuple[str, ...] = ()

    def pins(self) -> Iterator[tuple[str, bytes]]:
        """Yield (file name, content) of the pinned go.mod and go.sum."""
        folder: Traversable = resources.files("modeldeployment.lab.toolchain") / "modules" / self.name
        for file in ("go.mod", "go.sum"):
            yield file, (folder / file).read_bytes()


@dataclass(frozen=True, slots=True)
class Documents:
    """Files or folders (`parts`, below `origin` in a family's source) that are copied into `folder` beside it."""

    origin: str
    parts: tuple[str, ...]
    folder: str


def _kubernetes_stamps() -> tuple[tuple[str, str], ...]:
    major, minor, _ = KUBERNETES_VERSION.split(".")
    release = (("gitVersion", f"v{KUBERNETES_VERSION}"), ("gitMajor", major), ("gitMinor", minor))
    origin = (("gitTreeState", "clean"), ("gitCommit", "0" * 40), ("buildDate", "2026-01-01T00:00:00Z"))
    server = tuple((f"k8s.io/component-base/version.{name}", value) for name, value in (*release, *origin))
    return server + tuple((f"k8s.io/client-go/pkg/version.{name}", value) for name, value in release)


def _kubernetes(name: str, weight: int) -> Program:
    return Program(name, f"k8s.io/kubernetes/cmd/{name}", _kubernetes_stamps(), weight)


ETCD: Final = Family("etcd", (Program("etcd", "go.etcd.io/etcd/server/v3", (), 30),))

KWOK: Final = Family("kwok", (Program("kwok", "sigs.k8s.io/kwok/cmd/kwok", (), 90),))

KUEUE: Final = Family(
    "kueue",
    (Program("kueue", ".", (("sigs.k8s.io/kueue/pkg/version.GitVersion", f"v{KUEUE_VERSION}"),), 180),),
    SourceCopy(
        module="sigs.k8s.io/kueue",
        version=f"v{KUEUE_VERSION}",
        parts=("cmd/kueue/main.go",),
        replaces=False,
        changes=(
            Change("main.go", "import (", 'import (\n\t"cmp"'),
            Change(
                "main.go",
                '\t\tmetricsCertPath := "/etc/kueue/metrics/certs"',
                f'\t\tmetricsCertPath := cmp.Or(os.Getenv("{METRICS_CERTIFICATES}"), "/etc/kueue/metrics/certs")',
            ),
        ),
    ),
)

KUBERNETES: Final = Family(
    "kubernetes",
    (
        _kubernetes("kube-apiserver", 190),
        _kubernetes("kube-controller-manager", 60),
        _kubernetes("kube-scheduler", 10),
        _kubernetes("kubectl", 20),
    ),
    SourceCopy(
        module="k8s.io/kubernetes",
        version=f"v{KUBERNETES_VERSION}",
        parts=("go.mod", "cmd", "pkg", "plugin", "third_party"),
        replaces=True,
        changes=(
            Change("pkg/apis/core/validation/validation.go", '\t"net"', '\t"net"\n\t"os"'),
            Change(
                "pkg/apis/core/validation/validation.go",
                "\tif ip.IsLoopback() {",
                f'\tif ip.IsLoopback() && os.Getenv("{LOOPBACK_ENDPOINTS}") == "" {{',
            ),
        ),
    ),
)

PICKER: Final = Family(
    "epp",
    (
        Program("epp", "github.com/llm-d/llm-d-inference-scheduler/cmd/epp", (), 120),
        Program("pd-sidecar", "github.com/llm-d/llm-d-inference-scheduler/cmd/pd-sidecar", (), 100),
    ),
)
"""The picker of llm-d-router and the routing proxy beside a decoder, which only tests start: no part of the lab.

They build with a newer kv-cache module than their release had, which their pins say (facts control-plane §10).
"""

PROMTOOL: Final = Family(
    "prometheus",
    (Program("promtool", "github.com/prometheus/prometheus/cmd/promtool", (), 200),),
    tags=("remove_all_sd",),
)
"""Prometheus' checker, which only tests of our series start: no part of the lab.

The tag leaves out how Prometheus finds targets in each cloud, which is half of the build.
"""

GROUPS: Final = Family(
    "lws",
    (Program("lws", "sigs.k8s.io/lws/cmd", (), 80),),
    SourceCopy("sigs.k8s.io/lws", f"v{GROUPS_VERSION}", parts=(), replaces=False, changes=()),
)
"""LeaderWorkerSet, unchanged, which only the benchmarks start: no part of the lab (facts peers-measured)."""

GROUPS_DOCUMENTS: Final = Documents("config", ("crd/bases", "webhook/manifests.yaml"), "lws-config")

FAMILIES: Final = (ETCD, KWOK, KUEUE, KUBERNETES)
PROGRAMS: Final = tuple(program.name for family in FAMILIES for program in family.programs)
KUEUE_DOCUMENTS: Final = Documents("config/components", ("crd/bases", "webhook/manifests.yaml"), KUEUE_CONFIG)
