import sys
from pathlib import Path

import pytest
from modeldeployment.lab.controlplane import ControlPlane, Options
from modeldeployment.lab.runtimes import kind, kwokctl
from modeldeployment.lab.runtimes.choosing import availability, runtime_named
from modeldeployment.lab.runtimes.commands import run
from modeldeployment.lab.runtimes.given import Given
from modeldeployment.lab.runtimes.processes import Processes
from modeldeployment.lab.runtimes.runtime import (
    ClusterUnfit,
    CommandFailed,
    ProgramAbsent,
    Runtime,
    RuntimeStatus,
    RuntimeUnknown,
    Skipped,
    Usable,
    Which,
)
from modeldeployment.lab.toolchain import Toolchain

KUBECONFIG = Path("/state/kubeconfig")


def having(*programs: str) -> Which:
    return lambda program: f"/bin/{program}" if program in programs else None


def never() -> Processes:
    raise AssertionError("the lab's own control plane was not asked for")


def named(name: str, which: Which, kubeconfig: Path | None = None) -> Runtime:
    return runtime_named(name, processes=never, cluster="lab", state=Path("/state"), kubeconfig=kubeconfig, which=which)


def test_kwokctl_creates_a_cluster_with_kueue_in_the_engine_that_is_there() -> None:
    assert kwokctl.create_argv("lab", "podman", KUBECONFIG, None) == (
        "kwokctl",
        "create",
        "cluster",
        "--name=lab",
        "--runtime=podman",
        "--enable=kueue",
        "--disable-qps-limits",
        "--kubeconfig=/state/kubeconfig",
        "--wait=180s",
    )
    assert kwokctl.create_argv("lab", "podman", KUBECONFIG, Path("/kwok.yaml"))[-1] == "--config=/kwok.yaml"


def test_kwokctl_deletes_what_it_created_and_lists_clusters() -> None:
    assert kwokctl.delete_argv("lab", KUBECONFIG) == (
        "kwokctl",
        "delete",
        "cluster",
        "--name=lab",
        "--kubeconfig=/state/kubeconfig",
    )
    assert kwokctl.list_argv() == ("kwokctl", "get", "clusters")


def test_kind_creates_a_cluster_of_the_pinned_image_on_loopback() -> None:
    assert kind.create_argv("lab", Path("/state/kind.yaml"), KUBECONFIG) == (
        "kind",
        "create",
        "cluster",
        "--name=lab",
        "--image=kindest/node:v1.36.1",
        "--config=/state/kind.yaml",
        "--kubeconfig=/state/kubeconfig",
        "--wait=180s",
    )
    assert kind.configuration()["networking"] == {"apiServerAddress": "127.0.0.1"}


def test_kind_applies_manifests_on_the_server_and_waits_for_kueue() -> None:
    assert kind.apply_argv(KUBECONFIG, "kueue.yaml") == (
        "kubectl",
        "--kubeconfig=/state/kubeconfig",
        "apply",
        "--server-side",
        "--force-conflicts",
        "--filename=kueue.yaml",
    )
    assert kind.wait_argv(KUBECONFIG, "kueue-system") == (
        "kubectl",
        "--kubeconfig=/state/kubeconfig",
        "--namespace=kueue-system",
        "wait",
        "deployment",
        "--all",
        "--for=condition=Available",
        "--timeout=300s",
    )


def test_a_runtime_is_skipped_with_the_reason_where_its_program_is_absent() -> None:
    assert availability("kind", having("docker")) == Skipped(
        "runtime 'kind' is skipped: no program 'kind' on PATH; install it or use processes"
    )
    assert availability("kwokctl", having("kwokctl")) == Skipped(
        "runtime 'kwokctl' is skipped: no docker, podman or nerdctl on PATH; install one or use processes"
    )
    assert availability("kind", having("kind", "nerdctl")) == Usable()
    assert availability("processes", having()) == Usable()


def test_asking_for_an_absent_runtime_says_the_same_reason() -> None:
    with pytest.raises(ProgramAbsent, match="no program 'kind' on PATH"):
        named("kind", having())


def test_an_unknown_runtime_lists_those_there_are() -> None:
    with pytest.raises(RuntimeUnknown) as refused:
        named("minikube", having())
    assert str(refused.value) == "runtime 'minikube' is unknown; the runtimes are processes, kubeconfig, kwokctl, kind"


def test_a_name_gives_its_runtime_with_the_engine_found() -> None:
    assert named("kwokctl", having("kwokctl", "nerdctl")) == kwokctl.Kwokctl("lab", "nerdctl", KUBECONFIG)
    assert named("kind", having("kind", "docker")) == kind.Kind("lab", Path("/state"), ())
    assert named("kubeconfig", having(), Path("/given")) == Given(Path("/given"))


def test_the_kubeconfig_runtime_asks_for_the_kubeconfig() -> None:
    with pytest.raises(RuntimeUnknown, match="needs --kubeconfig FILE"):
        named("kubeconfig", having())


async def test_a_command_that_fails_is_told_with_the_end_of_what_it_said() -> None:
    script = "import sys; print('x' * 5000); print('no space left'); sys.exit(3)"
    with pytest.raises(CommandFailed, match=r"ended with 3: x{586}\nno space left$"):
        await run((sys.executable, "-c", script))


async def test_a_program_that_is_not_there_is_told_by_its_name() -> None:
    with pytest.raises(ProgramAbsent, match="program 'kwokctl-that-is-not-there' is not on PATH"):
        await run(("kwokctl-that-is-not-there",))


async def test_a_cluster_counts_as_running_only_if_it_is_listed() -> None:
    listing = (sys.executable, "-c", "print('lab other')")
    assert await kwokctl.listed(listing, "lab") == RuntimeStatus(True, f"{sys.executable} lists cluster 'lab'")
    assert not (await kwokctl.listed(listing, "la")).running
    assert not (await kwokctl.listed(("kwokctl-that-is-not-there",), "lab")).running


async def test_a_kubeconfig_that_is_not_there_is_unfit_and_taking_it_down_does_nothing(tmp_path: Path) -> None:
    given = Given(tmp_path / "none")
    with pytest.raises(ClusterUnfit, match="cannot be used"):
        await given.up()
    assert not (await given.status()).running
    await given.down()


def no_toolchain() -> Toolchain:
    raise AssertionError("a control plane that runs needs no programs")


@pytest.mark.lab
async def test_a_control_plane_that_runs_is_used_as_it_is(control_plane: ControlPlane) -> None:
    processes = Processes(Options(name="pytest", state=control_plane.state), no_toolchain)
    assert await processes.up() == control_plane.kubeconfig
    assert await processes.status() == RuntimeStatus(True, "pytest is Ready")


@pytest.mark.lab
async def test_a_given_cluster_is_looked_at_and_never_stopped(control_plane: ControlPlane) -> None:
    given = Given(control_plane.kubeconfig)
    assert await given.up() == control_plane.kubeconfig
    await given.down()
    assert (await given.status()).running


async def test_a_control_plane_that_never_was_is_not_running(tmp_path: Path) -> None:
    processes = Processes(Options(state=tmp_path / "none"), no_toolchain)
    seen = await processes.status()
    assert not seen.running
    assert "start one with `md-lab up`" in seen.message
