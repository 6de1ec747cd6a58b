"""The state directory: what is kept in it, whose it is, and what others read from it."""

import socket
from pathlib import Path

import pytest
from modeldeployment.lab import logs
from modeldeployment.lab.controlplane import (
    Component,
    ComponentPhase,
    Options,
    Phase,
    Ports,
    attach,
    down,
    ports,
    status,
)
from modeldeployment.lab.controlplane.layout import Layout
from modeldeployment.lab.controlplane.options import component, state_folder
from modeldeployment.lab.controlplane.record import ComponentRecord, Record
from modeldeployment.lab.controlplane.running import why_ended
from modeldeployment.lab.errors import ComponentFailed, NotUp, PortTaken, StateUnusable, UnknownComponent, tail

NO_PROCESS = 2**22 + 1
"""An id above the kernel's highest."""


def a_record(folder: Path, **changes: object) -> Record:
    given: dict[str, object] = {
        "phase": Phase.READY,
        "options": Options(name="x", state=folder, extra_args={Component.KWOK: ("--v=2",)}),
        "bin": Path("/bin"),
        "ports": ports.choose(seed=1),
        "supervisor": NO_PROCESS,
        "token": "secret",
        "components": {Component.ETCD: ComponentRecord(ComponentPhase.RUNNING, 7, starts=1)},
    }
    return Record(**(given | changes))  # type: ignore[arg-type]


def test_a_record_is_read_as_it_was_written_and_only_by_its_owner(tmp_path: Path) -> None:
    record = a_record(tmp_path)
    record.write(tmp_path / "state.json")
    assert Record.read(tmp_path / "state.json") == record
    assert (tmp_path / "state.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"phase": "Happy"}'])
def test_something_else_is_not_a_record(tmp_path: Path, text: str) -> None:
    (tmp_path / "state.json").write_text(text)
    assert Record.read(tmp_path / "state.json") is None


def test_a_supervisor_that_vanished_is_told_as_lost(tmp_path: Path) -> None:
    a_record(tmp_path).write(Layout(tmp_path).record)
    seen = status(tmp_path)
    assert seen.phase is Phase.LOST
    assert seen.failure == "the supervisor was killed, and its components ended with it"
    assert [(part.name, part.phase, part.pid) for part in seen.components] == [("etcd", ComponentPhase.STOPPED, 0)]


def test_what_is_not_up_cannot_be_attached_and_is_stopped_already(tmp_path: Path) -> None:
    a_record(tmp_path).write(Layout(tmp_path).record)
    with pytest.raises(NotUp, match="start one with `md-lab up`"):
        attach(tmp_path)
    assert down(tmp_path) is False


def test_nothing_at_all_has_no_status(tmp_path: Path) -> None:
    with pytest.raises(NotUp, match="there is no control plane in"):
        status(tmp_path)


def test_a_directory_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(StateUnusable, match=r"holds other files \(thesis.tex\); choose an empty or new directory"):
        Layout(tmp_path).claim()


def test_an_earlier_runs_directory_is_taken_over_and_emptied(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "lab")
    layout.claim()
    layout.wipe()
    (layout.etcd / "db").touch()
    layout.log("etcd").write_text("old\n")
    layout.claim()
    layout.wipe()
    assert list(layout.etcd.iterdir()) == []
    assert not layout.log("etcd").exists()


def test_a_stopped_run_leaves_its_logs_and_nothing_secret(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.claim()
    layout.wipe()
    layout.key("ca").touch()
    layout.kubeconfig.touch()
    layout.log("etcd").touch()
    layout.forget()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["logs", "supervisor.lock"]


@pytest.mark.parametrize("name", ["", "Bad", "../x", "a b", "x" * 64, "-x"])
def test_a_name_that_is_no_folder_name_is_refused(name: str) -> None:
    with pytest.raises(StateUnusable, match="lower-case letters"):
        state_folder(name)


def test_an_unknown_component_is_told_with_those_there_are() -> None:
    with pytest.raises(UnknownComponent, match=r"'etc' does not exist; the components are etcd, kube-apiserver"):
        component("etc")


def test_ports_differ_and_a_wanted_one_in_use_is_told() -> None:
    chosen = ports.choose(seed=3)
    numbers = [getattr(chosen, name) for name in Ports.names()]
    assert len(set(numbers)) == 10
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken: int = server.getsockname()[1]
        with pytest.raises(PortTaken, match=f"port {taken} is in use"):
            ports.choose(taken)


def test_a_component_that_failed_shows_the_end_of_its_log(tmp_path: Path) -> None:
    log = tmp_path / "kwok.log"
    log.write_text("".join(f"line {number}\n\n" for number in range(100)))
    error = ComponentFailed("kwok", why_ended(-9), log, tail(log, 2))
    assert str(error) == f"kwok was killed by SIGKILL; the last lines of {log}:\n  | line 98\n  | line 99"


def test_logs_show_the_last_lines_of_each_component(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_text("1\n2\n3\n")
    (tmp_path / "b.log").write_text("")
    logs.show({"a": tmp_path / "a.log", "b": tmp_path / "b.log"}, 2, follow=False)
    assert capsys.readouterr().out == f"==> a ({tmp_path}/a.log)\n2\n3\n==> b ({tmp_path}/b.log)\n"


def test_following_takes_up_whole_lines_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "a.log"
    log.write_text("old\nnew\nhal")
    seen = logs.print_new("a", log, 4)
    assert capsys.readouterr().out == "a: new\n"
    with log.open("a") as file:
        file.write("f\n")
    assert logs.print_new("a", log, seen) == log.stat().st_size
    assert capsys.readouterr().out == "a: half\n"
