"""The README's example of `kubectl md` prints what the README shows."""

import re
from pathlib import Path

import pytest
from people_worlds import run

README = Path(__file__).parents[1] / "README.md"


def test_the_example_says_what_the_readme_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    section = README.read_text(encoding="utf-8").split("## kubectl md\n")[1].split("\n## ")[0]
    (manifest,) = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    ((command, shown),) = re.findall(r"```console\n\$ kubectl-md (.*?)\n(.*?)```", section, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("chat.yaml").write_text(manifest, encoding="utf-8")
    said = run(capsys, *command.split())
    assert (said.status, said.out) == (1, shown)
