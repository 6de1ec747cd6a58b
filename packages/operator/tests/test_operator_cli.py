"""The command line, run as a program."""

import os
import subprocess
import sys
from pathlib import Path

import yaml


def operator(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("modeldeployment-operator")
    variables = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=60, check=False, env=variables | environment
    )


def test_crds_prints_both_definitions_in_the_order_to_apply_them() -> None:
    done = operator("crds")
    assert done.returncode == 0
    assert [each["metadata"]["name"] for each in yaml.safe_load_all(done.stdout)] == [
        "instancetypes.worker.gpustack.ai",
        "kvcachebackends.worker.gpustack.ai",
        "kvcachepools.worker.gpustack.ai",
        "kvcachepoolbindings.worker.gpustack.ai",
        "modelartifacts.worker.gpustack.ai",
        "modeldeployments.worker.gpustack.ai",
        "modeldeploymentscalers.worker.gpustack.ai",
    ]


def test_version_prints_every_member() -> None:
    done = operator("--version")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        "modeldeployment-api",
        "modeldeployment-kube",
        "modeldeployment-router",
        "modeldeployment-render",
        "modeldeployment-reconcile",
        "modeldeployment-admission",
        "modeldeployment-operator",
    ]


def test_a_bad_setting_is_one_sentence_and_exit_status_1() -> None:
    done = operator("run", GPUSTACK_WORKERS="many")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("modeldeployment-operator: setting workers is 'many': ")
    assert len(done.stderr.splitlines()) == 1


def test_a_missing_kubeconfig_is_one_sentence_and_exit_status_1(tmp_path: Path) -> None:
    done = operator("run", "--kubeconfig", str(tmp_path / "absent"))
    assert done.returncode == 1
    assert str(tmp_path / "absent") in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_unknown_option_is_exit_status_2() -> None:
    assert operator("run", "--kubecfg", "x").returncode == 2
