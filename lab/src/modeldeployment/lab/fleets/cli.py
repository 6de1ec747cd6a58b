"""The `md-lab fleet` commands: add, list, open and remove fleets of fake nodes."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from modeldeployment.kube import ApiError, Client, KubeError, load
from modeldeployment.lab.controlplane.layout import Layout
from modeldeployment.lab.controlplane.options import DEFAULT_NAME, state_folder
from modeldeployment.lab.errors import NotUp
from modeldeployment.lab.flavors.providing import local_queue, open_namespaces, provide, withdraw

from .applying import Standing, put_fleet, standing_fleets, wait_until_ready
from .errors import ClusterRefused, FleetRefused
from .fleet import Fleet, Partition

app: typer.Typer = typer.Typer(name="fleet", no_args_is_help=True, help="Fleets of fake nodes with a maker's devices.")

FIELD_MANAGER = "modeldeployment-lab"

Kubeconfig = Annotated[Path | None, typer.Option(help="Kubeconfig of any cluster; without it, the lab of --name.")]
LabName = Annotated[str, typer.Option("--name", help="Which control plane of the lab.")]
State = Annotated[Path | None, typer.Option("--state", help="Its state directory, instead of one chosen by --name.")]


@dataclass(frozen=True, slots=True)
class Where:
    """The cluster that is meant: the one of `kubeconfig`, else the lab's of that name or state directory."""

    kubeconfig: Path | None
    name: str
    state: Path | None


@app.callback()
def fleet() -> None:
    """Add, list and remove fleets of fake nodes on a lab's control plane."""


@app.command()
def add(
    maker: Annotated[str, typer.Option(help="nvidia, ascend, amd, … or generic for nodes without accelerators.")],
    nodes: Annotated[int, typer.Option(help="How many nodes.")],
    fleet_name: Annotated[str, typer.Argument(metavar="[FLEET]", help="Its name; MAKER-MODEL without it.")] = "",
    model: Annotated[str, typer.Option(help="Model of the cards, such as a10g, h20 or 910b.")] = "",
    cards: Annotated[int, typer.Option(help="Accelerators on each node.")] = 8,
    rdma: Annotated[int, typer.Option(help="RDMA endpoints on each node.")] = 0,
    efa: Annotated[int, typer.Option(help="EFA interfaces on each node.")] = 0,
    slices: Annotated[int, typer.Option(help="Logical slices one card can be cut into.")] = 0,
    partition: Annotated[
        list[str] | None, typer.Option(help="PROFILE=COUNT:MEMORY_MIB one card can be divided into.")
    ] = None,
    zone: Annotated[list[str] | None, typer.Option(help="A zone, or more: racks go round them.")] = None,
    nodes_per_rack: Annotated[int, typer.Option(help="Nodes in one rack.")] = 4,
    cpu: Annotated[int, typer.Option(help="Processor cores of each node.")] = 64,
    memory_gib: Annotated[int, typer.Option(help="Memory of each node in GiB.")] = 512,
    pods: Annotated[int, typer.Option(help="Pods each node can hold.")] = 110,
    arch: Annotated[str, typer.Option(help="Processor architecture.")] = "amd64",
    instance_type: Annotated[str, typer.Option(help="InstanceType to serve; named by the hardware without it.")] = "",
    runtime_version: Annotated[list[str] | None, typer.Option(help="Driver version that the nodes report.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="A label for every node, KEY=VALUE.")] = None,
    check: Annotated[list[str] | None, typer.Option(help="An AdmissionCheck of the ClusterQueue.")] = None,
    namespace: Annotated[
        list[str] | None, typer.Option(help="Open it to this one; to all but system ones without.")
    ] = None,
    nodes_only: Annotated[bool, typer.Option("--nodes-only", help="Make nodes, no flavors and queues.")] = False,
    kubeconfig: Kubeconfig = None,
    name: LabName = DEFAULT_NAME,
    state: State = None,
) -> None:
    """Add a fleet, or make the fleet of that name be as said; adding it again changes nothing."""
    wanted = Fleet(
        maker=maker,
        model=model,
        nodes=nodes,
        name=fleet_name,
        cards=cards,
        rdma=rdma,
        efa=efa,
        slices=slices,
        partitions=tuple(_partition(text) for text in partition or ()),
        zones=tuple(each for text in zone or ["z1"] for each in text.split(",")),
        nodes_per_rack=nodes_per_rack,
        cpu=cpu,
        memory_gib=memory_gib,
        pods=pods,
        arch=arch,
        instance_type=instance_type,
        labels=tuple(_label(text) for text in label or ()),
        runtime_versions=tuple(runtime_version or ()),
    )
    if nodes_only:
        asyncio.run(_add_nodes(Where(kubeconfig, name, state), wanted))
    else:
        asyncio.run(_add(Where(kubeconfig, name, state), wanted, namespace or (), tuple(check or ())))


@app.command("list")
def list_fleets(kubeconfig: Kubeconfig = None, name: LabName = DEFAULT_NAME, state: State = None) -> None:
    """List the fleets that nodes of the cluster belong to."""
    print(table(asyncio.run(_standing(Where(kubeconfig, name, state)))))


@app.command("open")
def open_to(
    namespace: Annotated[list[str], typer.Argument(help="Namespaces to let into every fleet.")],
    kubeconfig: Kubeconfig = None,
    name: LabName = DEFAULT_NAME,
    state: State = None,
) -> None:
    """Let namespaces that were made after a fleet use it: one LocalQueue each."""
    asyncio.run(_open(Where(kubeconfig, name, state), namespace))


@app.command()
def remove(
    fleet_name: Annotated[str, typer.Argument(metavar="FLEET", help="The fleet's name.")],
    kubeconfig: Kubeconfig = None,
    name: LabName = DEFAULT_NAME,
    state: State = None,
) -> None:
    """Remove a fleet's nodes and, after the last fleet of its InstanceType, queues and InstanceType too."""
    print(f"fleet {fleet_name}: {asyncio.run(_remove(Where(kubeconfig, name, state), fleet_name))} nodes removed")


def table(fleets: Sequence[Standing]) -> str:
    """Return the fleets as a table for people, one line each."""
    if not fleets:
        return "no fleets; add one with: md-lab fleet add --maker nvidia --model a10g --nodes 2"
    rows = [("FLEET", "INSTANCE TYPE", "NODES", "READY", "CARDS", "RDMA", "EFA", "ZONES")]
    rows += [
        (
            each.fleet.name,
            each.fleet.instance_type,
            str(each.fleet.nodes),
            str(each.ready),
            str(each.fleet.nodes * each.fleet.cards),
            str(each.fleet.nodes * each.fleet.rdma),
            str(each.fleet.nodes * each.fleet.efa),
            ",".join(each.fleet.zones),
        )
        for each in fleets
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _partition(text: str) -> Partition:
    profile, _, amounts = text.partition("=")
    count, _, memory = amounts.partition(":")
    if not profile or not count.isdecimal() or not memory.isdecimal():
        raise FleetRefused(f"partition {text!r} is not PROFILE=COUNT:MEMORY_MIB; write for example 3g.40gb=2:40960")
    return Partition(profile, int(count), int(memory))


def _label(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise FleetRefused(f"label {text!r} is not KEY=VALUE")
    return key, value


async def _add(where: Where, wanted: Fleet, namespaces: Sequence[str], checks: tuple[str, ...]) -> None:
    async with _client(where) as client:
        entered = tuple(namespaces) or await open_namespaces(client)
        provision = await provide(client, wanted, namespaces=entered, admission_checks=checks)
    print(f"fleet {wanted.name}: {wanted.nodes} nodes Ready with {wanted.nodes * wanted.cards} cards")
    print(f"instanceType {provision.instance_type} is open to {', '.join(entered) or 'no namespace'}")


async def _add_nodes(where: Where, wanted: Fleet) -> None:
    async with _client(where) as client:
        put = await put_fleet(client, wanted)
        await wait_until_ready(client, wanted)
    print(f"fleet {wanted.name}: {wanted.nodes} nodes Ready ({put.created} new, {put.changed} changed)")


async def _standing(where: Where) -> tuple[Standing, ...]:
    async with _client(where) as client:
        return await standing_fleets(client)


async def _open(where: Where, namespaces: Sequence[str]) -> None:
    async with _client(where) as client:
        types = sorted({each.fleet.instance_type for each in await standing_fleets(client)})
        for namespace in namespaces:
            for instance_type in types:
                await local_queue(client, namespace, instance_type)
            print(f"namespace {namespace} may use {', '.join(types) or 'nothing yet; add a fleet first'}")


async def _remove(where: Where, fleet_name: str) -> int:
    async with _client(where) as client:
        return await withdraw(client, fleet_name)


@asynccontextmanager
async def _client(where: Where) -> AsyncIterator[Client]:
    kubeconfig = where.kubeconfig or Layout(state_folder(where.name, where.state)).kubeconfig
    if where.kubeconfig is None and not kubeconfig.exists():
        raise NotUp(f"no control plane {where.name!r} is up; start one with md-lab up, or pass --kubeconfig")
    try:
        async with Client(load(kubeconfig), field_manager=FIELD_MANAGER) as client:
            yield client
    except ApiError as error:
        raise ClusterRefused(f"the cluster of {kubeconfig} refused this: {error}") from error
    except KubeError as error:
        raise ClusterRefused(f"the cluster of {kubeconfig} cannot be used: {error}") from error
