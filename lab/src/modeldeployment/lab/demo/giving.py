"""Gives the demo on a cluster: the operator beside it, the fleet on it, the scenario played, and the way out told."""

import asyncio
import os
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from modeldeployment.kube import Client, KubeError, load
from modeldeployment.lab.controlplane.quota import credits_resource
from modeldeployment.lab.demo import manifests, operating, stage
from modeldeployment.lab.demo.acting import perform
from modeldeployment.lab.demo.claims import Verdict
from modeldeployment.lab.demo.errors import ClusterLost, OperatorEnded, StoryTorn
from modeldeployment.lab.demo.kubectl import Kubectl
from modeldeployment.lab.demo.manifests import manifest
from modeldeployment.lab.demo.operating import Operator
from modeldeployment.lab.demo.pair import pair
from modeldeployment.lab.demo.place import Place
from modeldeployment.lab.demo.playing import Cast, events, play
from modeldeployment.lab.demo.recording import Recorder
from modeldeployment.lab.demo.reviewing import reviewed
from modeldeployment.lab.demo.scenario import Apply, prologue, scenario
from modeldeployment.lab.demo.served import engines
from modeldeployment.lab.demo.showing import Teller
from modeldeployment.lab.flavors.names import flavor_name
from modeldeployment.lab.fleets.fleet import Fleet

FIELD_MANAGER: Final = "modeldeployment-demo"
MAKER: Final = "nvidia"
MODEL: Final = "a10g"


@dataclass(frozen=True, slots=True)
class Wishes:
    """How the demo was asked for; `patience` is seconds a step may take."""

    namespace: str
    nodes: int
    patience: float
    keep: bool


async def give(place: Place, wishes: Wishes, teller: Teller) -> bool:
    """Play the whole story and tell whether every claim held.

    Raises ClusterLost, DemoRefused, OperatorAbsent and the lab's errors where it cannot even begin.
    """
    fleet = _fleet(place, wishes)
    try:
        async with Client(load(place.kubeconfig), field_manager=FIELD_MANAGER) as client:
            loan = stage.borrowed(client, fleet, wishes.namespace) if place.borrowed else nullcontext()
            async with loan:
                await stage.install(client)
                async with _operator(place, wishes) as operator:
                    await stage.furnish(client, fleet, wishes.namespace)
                    teller.say(f"{fleet.nodes} nodes of {fleet.cards} {MODEL} each, InstanceType {fleet.instance_type}")
                    if place.borrowed:
                        teller.say("no webhook: this cluster's API server may not be able to call this machine")
                        teller.say("no pair behind a router: its Pods may go to nodes that are not the demo's")
                        teller.say(
                            "no replica retires: the demo may not be able to answer at this cluster's Pod addresses"
                        )
                    else:
                        await reviewed(client, operator, manifest(wishes.namespace, fleet.instance_type))
                        teller.say("the operator's webhook reviews every write of a deployment")
                    good = await _story(place, wishes, teller, client, operator, fleet)
                    if wishes.keep:
                        _farewell(place, wishes, teller, operator)
                return good
    except KubeError as error:
        raise ClusterLost(f"the cluster of {place.kubeconfig} refused the demo, or went away: {error}") from error


def _fleet(place: Place, wishes: Wishes) -> Fleet:
    """The hardware of spec 1; on a borrowed cluster under names that cannot be anybody else's."""
    if not place.borrowed:
        return Fleet(maker=MAKER, model=MODEL, nodes=wishes.nodes)
    name = f"demo-{wishes.namespace}"
    return Fleet(maker=MAKER, model=MODEL, nodes=wishes.nodes, name=name, instance_type=name)


@asynccontextmanager
async def _operator(place: Place, wishes: Wishes) -> AsyncIterator[Operator]:
    """Run the operator; it stays only where it is to be kept and the story came to its end."""
    # A borrowed API server may be anywhere, and what it cannot reach would refuse its users' writes.
    webhook = not place.borrowed
    operator = operating.start(place.kubeconfig, place.log, place.lifeline, os.environ, webhook=webhook)
    kept = False
    try:
        yield operator
        kept = wishes.keep
    finally:
        if not kept:
            await asyncio.to_thread(operator.stop)


async def _story(
    place: Place, wishes: Wishes, teller: Teller, client: Client, operator: Operator, fleet: Fleet
) -> bool:
    document = manifest(wishes.namespace, fleet.instance_type)
    role = document["spec"]["roles"][0]["name"]
    resource, flavor = credits_resource(MAKER), flavor_name(fleet)
    steps = scenario(document["metadata"]["name"], role, resource=resource, flavor=flavor, served=not place.borrowed)
    if not place.borrowed:
        # A router's Pods go where they like, and on a borrowed cluster that may be a node of somebody's.
        steps = (prologue(), *steps, *pair(wishes.namespace, resource=resource, flavor=flavor))
    kubectl = Kubectl(place.kubectl, place.kubeconfig, _path())
    recorder = Recorder(client, wishes.namespace, teller.progress)
    try:
        async with recorder.recording(), engines(place, client, wishes.namespace) as serve:
            cast = Cast(client, kubectl, recorder, operator, document, serve)
            good = await play(cast, steps, teller, patience=wishes.patience)
            await serve(False)
            if good and wishes.keep:
                await perform(client, kubectl, Apply(), document, recorder.now)
    except (OperatorEnded, StoryTorn) as error:
        teller.verdict(Verdict("the story came to its end", (str(error),)))
        good = False
    if not good:
        await _explain(place, wishes, teller, client, operator)
    return good


def _path() -> str:
    """Where kubectl finds `kubectl md`: beside the operator, and nowhere in the caller's own."""
    beside = Path(operating.find(Path(sys.executable))).absolute().parent
    return os.pathsep.join((str(beside), os.defpath))


async def _explain(place: Place, wishes: Wishes, teller: Teller, client: Client, operator: Operator) -> None:
    """Show what helps to find out why, and the way to look further."""
    teller.say("")
    teller.trouble(f"the latest events in namespace {wishes.namespace}:", await events(client, wishes.namespace))
    teller.trouble(f"the operator's last lines ({operator.log}):", operator.last_lines())
    if wishes.keep:
        return
    way = f"the logs lie in {operator.log.parent}"
    teller.trouble("to look further:", (way if place.borrowed else f"md-lab demo --keep leaves everything up; {way}",))


def _farewell(place: Place, wishes: Wishes, teller: Teller, operator: Operator) -> None:
    """Say what stays, how to reach it and how to end it."""
    teller.say("")
    teller.say(f"export KUBECONFIG={shlex.quote(str(place.kubeconfig))}")
    teller.say(f"kubectl get md,pods,workloads -n {wishes.namespace}")
    for name, meaning in ((manifests.WRONG, "is still refused"), (manifests.PAIR, "a pair behind a router")):
        teller.say(f"kubectl apply -n {wishes.namespace} -f {shlex.quote(str(manifests.file(name)))}  # {meaning}")
    teller.say("its Pods are played by kwok and no engine answers in them: a replica that is to retire stays, Aborted")
    teller.say(f"the control plane and the operator stay up (log {operator.log}, metrics {operator.metrics})")
    teller.say(f"end both with: {place.end}")
