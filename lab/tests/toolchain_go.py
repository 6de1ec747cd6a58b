"""A stand-in for the go program: a shell script that answers the commands a build gives, with sources of our own."""

import json
import os
from pathlib import Path

_SCRIPT = """#!/bin/sh
echo "$@" >> {journal}
case "$1 $2" in
  "version "*) echo "go version go{version} linux/amd64" ;;
  "mod download") cat {folder}/$(echo "$4" | tr '/@' '__').json ;;
  "mod edit") ;;
  *)
    while [ "$1" != "-o" ]; do shift; done
    if [ -e {folder}/fail-$(basename "$2") ]; then cat {folder}/fail-$(basename "$2") >&2; exit 1; fi
    echo program > "$2"
    ;;
esac
"""


class StandInGo:
    """A go program in `folder`, on the PATH of `environ`; `journal` has one line for each command it got."""

    def __init__(self, folder: Path, version: str = "1.26.8") -> None:
        self.folder = folder
        self.path = folder / "go"
        self.journal = folder / "journal"
        self.path.write_text(_SCRIPT.format(journal=self.journal, version=version, folder=folder))
        self.path.chmod(0o755)
        self._module("sigs.k8s.io_kueue_v0.18.4", "cmd/kueue/main.go", _KUEUE_MAIN)
        kueue = folder / "sigs.k8s.io_kueue_v0.18.4" / "config" / "components"
        (kueue / "crd" / "bases").mkdir(parents=True)
        (kueue / "crd" / "bases" / "queues.yaml").write_text("kind: CustomResourceDefinition\n")
        (kueue / "webhook").mkdir()
        (kueue / "webhook" / "manifests.yaml").write_text("kind: MutatingWebhookConfiguration\n")
        kubernetes = "k8s.io_kubernetes_v1.36.3"
        self._module(kubernetes, "pkg/apis/core/validation/validation.go", _VALIDATION)
        for part in ("cmd", "plugin", "third_party"):
            (folder / kubernetes / part).mkdir()
        (folder / kubernetes / "go.mod").write_text("module k8s.io/kubernetes\n")

    @property
    def environ(self) -> dict[str, str]:
        """Variables under which this is the go on the PATH."""
        return {"PATH": f"{self.folder}{os.pathsep}/usr/bin{os.pathsep}/bin"}

    @property
    def built(self) -> list[str]:
        """The programs it was told to build, in order; failed tries too."""
        lines = self.journal.read_text().splitlines() if self.journal.exists() else []
        return [Path(line.split(" -o ")[1].split()[0]).name for line in lines if line.startswith("build ")]

    def fail(self, program: str, output: str) -> None:
        """From now on, fail to build a program, printing this."""
        (self.folder / f"fail-{program}").write_text(output)

    def mend(self, program: str) -> None:
        """Build it again."""
        (self.folder / f"fail-{program}").unlink()

    def _module(self, name: str, file: str, content: str) -> None:
        path = self.folder / name / file
        path.parent.mkdir(parents=True)
        path.write_text(content)
        (self.folder / f"{name}.json").write_text(json.dumps({"Dir": str(self.folder / name)}))


_KUEUE_MAIN = 'import (\n)\n\t\tmetricsCertPath := "/etc/kueue/metrics/certs"\n'
_VALIDATION = 'import (\n\t"net"\n)\n\tif ip.IsLoopback() {\n'
