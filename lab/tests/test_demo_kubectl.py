import asyncio
import os
from pathlib import Path

import psutil  # type: ignore[import-untyped]
from modeldeployment.lab.demo.kubectl import Kubectl, Told


def program(folder: Path, *script: str) -> Path:
    file = folder / "kubectl"
    file.write_text("\n".join(("#!/bin/sh", *script, "")))
    file.chmod(0o755)
    return file


async def test_what_it_printed_on_both_streams_is_told_with_the_command_as_typed(tmp_path: Path) -> None:
    kubectl = Kubectl(program(tmp_path, 'echo "out $1 $KUBECONFIG"', "echo err >&2", "exit 1"), Path("/kubeconfig"))
    assert await kubectl.run("apply", "-f", "a b.yaml") == Told(
        "kubectl apply -f 'a b.yaml'", ("out apply /kubeconfig", "err")
    )


async def test_it_has_none_of_the_callers_settings_and_leaves_no_home_behind(tmp_path: Path) -> None:
    told = await Kubectl(program(tmp_path, 'echo "$HOME"', "echo kept > $HOME/cache"), Path("k")).run()
    (home,) = told.lines
    assert home != os.environ.get("HOME")
    assert not Path(home).exists()  # noqa: ASYNC240 - it is gone or it is not


async def test_it_finds_other_programs_where_it_is_told_to_and_not_where_the_caller_does(tmp_path: Path) -> None:
    script = program(tmp_path, 'echo "$PATH"')
    assert (await Kubectl(script, Path("k"), "/beside:/bin").run()).lines == ("/beside:/bin",)
    assert (await Kubectl(script, Path("k")).run()).lines == (os.defpath,)


async def test_it_ends_with_whoever_waits_for_it(tmp_path: Path) -> None:
    script = (f"echo $$ > {tmp_path}/new && mv {tmp_path}/new {tmp_path}/pid", "exec sleep 60")
    running = asyncio.create_task(Kubectl(program(tmp_path, *script), Path("k")).run())
    while not (tmp_path / "pid").exists():  # noqa: ASYNC110 - a file tells nobody
        await asyncio.sleep(0.02)
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled()
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))
