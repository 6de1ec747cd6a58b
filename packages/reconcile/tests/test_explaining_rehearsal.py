"""What would happen if a replica left now, from a snapshot: by the protocol, held, asked of whom, or without it."""

from dataclasses import replace
from datetime import timedelta

from modeldeployment.reconcile import PodPhase
from modeldeployment.reconcile.explaining import chains, rehearsal
from modeldeployment.reconcile.explaining.links import Link, Why
from modeldeployment.reconcile.explaining.picture import Picture, PodDetails, RouterProcess
from modeldeployment.reconcile.explaining.rehearsal import Rehearsal, Would
from reconcile_worlds import deployment, pair, pod, rendering, role, snapshot
from retiring_worlds import reserved

WHOLE = rendering(deployment(replicas=2))
PICKER = RouterProcess("chat-router-0", "0.10.0")


def scraped(picture: Picture) -> Picture:
    """The picture with every Pod's numbers at some address."""
    return replace(picture, pods={each.uid: PodDetails(scraped_at="http://x") for each in picture.snapshot.members})


def of_a_pair(ordinal: int = 1, *, routers: tuple[RouterProcess, ...] | None = (PICKER,), grace: int = 45) -> Rehearsal:
    """A replica of two decoders of a routed pair."""
    roles = [
        role("prefill", kind="Prefill", replicas=1),
        role("decode", kind="Decode", replicas=2, terminationGracePeriodSeconds=grace),
    ]
    return rehearsal.of(scraped(Picture(snapshot(pair(roles=roles)), routers=routers)), "decode", ordinal)


def test_a_half_of_a_pair_waits_out_its_handoff_window() -> None:
    told = of_a_pair()
    assert (told.would, told.window) == (Would.LEAVE, timedelta(seconds=45))
    assert told.soonest == timedelta(seconds=14 + 45)


def test_a_window_that_no_drain_is_long_enough_for_keeps_it() -> None:
    told = of_a_pair(grace=240)
    assert told.would is Would.STAY
    assert told.because.startswith("stays: its handoff window, terminationGracePeriodSeconds of 240 s, does not end")


def test_a_picker_is_asked_for_its_own_view() -> None:
    (ask,) = of_a_pair().withdrawal
    assert (ask.of, ask.answer) == ("router Pod chat-router-0 (llm-d-router 0.10.0)", "has let go of it")


def test_one_version_that_nobody_measured_among_others_spoils_it() -> None:
    told = of_a_pair(routers=(PICKER, RouterProcess("chat-router-1", "9.9.9")))
    assert told.would is Would.ABORT
    assert told.because.startswith("router Pod chat-router-1 runs llm-d-router 9.9.9, of which it is not known")


def test_routers_that_may_not_be_listed_are_asked_all_the_same() -> None:
    (ask,) = of_a_pair(routers=None).withdrawal
    assert ask.of == "every Pod of llm-d-router"


def test_a_router_without_a_pod_sends_nothing() -> None:
    assert of_a_pair(routers=()).would is Would.LEAVE


def test_a_router_pod_that_does_not_run_yet_has_to() -> None:
    (ask,) = of_a_pair(routers=(RouterProcess("chat-router-0", "0.10.0", running=False),)).withdrawal
    assert ask.answer == "runs, and has let go of it"


def test_the_last_worker_of_its_kind_stays() -> None:
    of = pair(replicas=2)
    whole = rendering(of)
    members = [
        pod(whole, role=name, ordinal=ordinal, ready=(name, ordinal) != ("decode", 0))
        for name in ("prefill", "decode")
        for ordinal in (0, 1)
    ]
    told = rehearsal.of(scraped(Picture(snapshot(of, members), routers=(PICKER,))), "decode", 1)
    assert told.would is Would.STAY
    assert told.because.startswith("stays: it is the last worker of its kind that the router has")


def test_a_role_that_goes_to_zero_may_lose_its_last_worker() -> None:
    assert rehearsal.of(scraped(Picture(snapshot(pair()), routers=(PICKER,))), "decode", 0).would is Would.LEAVE


def test_one_that_was_never_ready_is_asked_nothing() -> None:
    members = (pod(WHOLE), pod(WHOLE, ordinal=1, ready=False, phase=PodPhase.PENDING))
    told = rehearsal.of(Picture(snapshot(deployment(), members)), "server", 1)
    assert told.would is Would.LEAVE
    assert [ask.of for ask in (*told.withdrawal, *told.idle)] == ["nobody", "nobody"]


def test_one_that_has_ended_leaves_without_a_retirement() -> None:
    members = (pod(WHOLE), pod(WHOLE, ordinal=1, ready=False, phase=PodPhase.FAILED))
    told = rehearsal.of(Picture(snapshot(deployment(), members)), "server", 1)
    assert (told.would, told.pods, told.idle) == (Would.LEAVE, ("chat-server-1-0",), ())
    assert "without a retirement" in told.because


def test_of_a_replica_of_many_pods_all_go_and_the_leader_alone_is_asked() -> None:
    of = deployment(replicas=2, size=3)
    told = rehearsal.of(scraped(Picture(snapshot(of))), "server", 1)
    assert told.pods == ("chat-server-1-0", "chat-server-1-1", "chat-server-1-2")
    assert [ask.of for ask in told.idle] == ["Pod chat-server-1-0"]


def test_a_role_of_which_one_leaves_does_not_turn_over_meanwhile() -> None:
    members = tuple(pod(WHOLE, ordinal=ordinal, outdated=True) for ordinal in (0, 1))
    mine = reserved("Draining", members=frozenset({members[1].uid}))
    seen = snapshot(deployment(replicas=1), members, status={"retirement": mine.body()})
    assert Link(Why.TURN_AWAITS_RETIREMENT, "role server") in chains.explain(Picture(seen)).whole
