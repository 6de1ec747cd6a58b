"""What becomes of a commit when somebody else is faster, an answer gets lost, or the process ends."""

from collections.abc import Callable
from typing import Any

import pytest
from model_scaling import INTERVAL, Scene, commits
from modeldeployment.api import keys
from modeldeployment.kube import Forbidden, ServerFailure, Uncertain
from modeldeployment.kube.errors import Details
from modeldeployment.lab.model.client import Write
from modeldeployment.lab.model.errors import Killed
from modeldeployment.scaler.scaling import SHORTLY


def once(what: Callable[[], Any]) -> Callable[[Write], None]:
    """Do something at the first commit, and nothing at later ones."""
    left = [what]

    def meet(write: Write) -> None:
        if commits(write) and left:
            left.pop()()

    return meet


def raises(error: BaseException) -> Callable[[], None]:
    """Raise it."""

    def fail() -> None:
        raise error

    return fail


def bound(waiting: int = 30, **spec: Any) -> Scene:
    """A scene whose scaler is bound and about to plan: four replicas are wanted where two are."""
    scene = Scene()
    scene.engines.waiting = waiting
    scene.scale(**spec)
    scene.look()
    assert scene.annotation(keys.SCALER_BINDING)["term"] == 1
    return scene


def test_counts_and_their_decision_are_one_write() -> None:
    scene = bound()
    scene.settle()
    assert scene.replicas == 4
    assert scene.annotation(keys.SCALER_DECISION) == {"decisionID": "d-1", "term": 1, "vector": {"server": 4}}
    assert scene.status["lastCommit"]["targetGeneration"] == scene.target["metadata"]["generation"] == 2
    assert scene.status["pendingCohort"]["baselineVector"] == {"server": 2}
    assert scene.journal.lines[-1].committed
    assert scene.notes("Committed") == ["server 2 -> 4 (decision d-1)"]


def test_a_finalizer_stands_before_the_binding_does() -> None:
    scene = Scene()
    scene.scale()
    scene.look()
    writes = [(each.plural, each.name) for each in scene.server.story if each.by == keys.FIELD_MANAGER]
    assert writes == [("modeldeploymentscalers", "chat"), ("modeldeployments", "chat")]
    stored = scene.server.get("modeldeploymentscalers", "chat", "team")
    assert stored["metadata"]["finalizers"] == [keys.SCALER_FINALIZER]


def test_a_target_that_is_edited_between_plan_and_commit_stays_as_it_was_edited() -> None:
    scene = bound()
    scene.client.before = once(lambda: scene.edit({"spec": {"model": {"name": "another"}}}))
    scene.settle()
    assert scene.replicas == 2
    assert scene.annotation(keys.SCALER_DECISION) == {}
    assert scene.controller.tally.unwritten == {"Abandoned": 1}
    assert scene.notes("CommitAbandoned") == ["server 2 -> 4 was not written: the deployment was edited"]
    assert not scene.journal.lines[-1].committed
    scene.later()
    assert scene.replicas == 4


def test_a_binding_that_moves_between_plan_and_commit_takes_the_commit_with_it() -> None:
    scene = bound()
    other = {keys.SCALER_BINDING: '{"scalerName":"chat","scalerUID":"other","term":2}'}
    scene.client.before = once(lambda: scene.edit({"metadata": {"annotations": other}}))
    scene.settle()
    assert scene.replicas == 2
    assert scene.notes("CommitAbandoned") == ["server 2 -> 4 was not written: the binding moved"]
    scene.settle()
    assert [each["reason"] for each in scene.status["conditions"][:2]] == ["AlreadyBound", "AlreadyBound"]


def test_a_retirement_that_begins_between_plan_and_commit_abandons_it() -> None:
    scene = bound()
    begun = {"status": {"retirement": {"roleName": "server", "replicaOrdinal": 1, "state": "Draining"}}}
    scene.client.before = once(lambda: scene.edit(begun, status=True))
    scene.settle()
    assert scene.replicas == 2
    assert scene.notes("CommitAbandoned") == ["server 2 -> 4 was not written: a retirement moved"]


def test_a_status_that_moves_between_plan_and_commit_is_written_over() -> None:
    scene = bound()
    scene.client.before = once(lambda: scene.edit({"status": {"phase": "Ready"}}, status=True))
    scene.settle()
    assert scene.replicas == 4
    assert scene.controller.tally.commits == {"Planned": 1}


def test_a_commit_whose_answer_was_lost_is_read_back_and_not_made_twice() -> None:
    scene = bound()
    scene.client.after = once(raises(Uncertain("answer lost")))
    scene.settle()
    assert scene.replicas == 4
    assert scene.status["lastCommit"]["decisionID"] == "d-1"
    written = [each for each in scene.server.story if each.plural == "modeldeployments" and each.by != "user"]
    assert len(written) == 2


def test_a_commit_that_never_arrived_is_found_out_before_anything_else_is_planned() -> None:
    scene = bound()
    scene.client.before = once(raises(Uncertain("answer lost")))
    scene.look()
    assert scene.replicas == 2
    assert scene.journal.lines == []
    scene.settle()
    assert scene.controller.tally.unwritten == {"Lost": 1, "Abandoned": 1}
    assert scene.replicas == 4
    assert [line.committed for line in scene.journal.lines] == [False, True]


def test_a_process_that_ends_between_commit_and_status_is_caught_up_with() -> None:
    scene = bound()
    scene.client.after = once(raises(Killed("here")))
    scene.look()
    assert scene.replicas == 4
    assert "lastCommit" not in scene.status
    scene.start()
    scene.lead()
    scene.clock.advance(INTERVAL)
    scene.settle()
    assert scene.controller.tally.adopted == 1
    assert scene.status["lastCommit"]["vector"] == {"server": 4}
    assert scene.annotation(keys.SCALER_BINDING)["term"] == 1
    assert scene.replicas == 4


@pytest.mark.parametrize("written", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", range(1, 6))
def test_a_process_may_end_at_any_write(number: int, written: bool) -> None:
    scene = Scene()
    scene.engines.waiting = 30
    scene.scale()

    def meet(write: Write) -> None:
        if write.number == number:
            raise Killed("here")

    if written:
        scene.client.after = meet
    else:
        scene.client.before = meet
    scene.settle()
    scene.start()
    scene.lead()
    for _ in range(3):
        scene.later()
    assert scene.replicas == 4
    assert scene.annotation(keys.SCALER_BINDING)["term"] == 1
    assert scene.annotation(keys.SCALER_DECISION)["vector"] == {"server": 4}
    assert scene.status["lastCommit"]["vector"] == {"server": 4}
    assert scene.status["binding"]["term"] == 1


def test_a_steady_scaler_writes_nothing() -> None:
    scene = bound(waiting=16)
    scene.later()
    told = scene.client.writes
    for waiting in (15, 16, 17, 16, 15):
        scene.engines.waiting = waiting
        scene.later()
    assert scene.client.writes == told
    assert len(scene.journal.lines) == 6


def test_what_wakes_a_scaler_lets_it_plan_no_sooner_than_its_interval() -> None:
    scene = bound(waiting=16)
    scene.settle()
    planned = len(scene.engines.asked)
    for _ in range(3):
        scene.edit({"metadata": {"labels": {"team": "a"}}})
        scene.look()
    assert len(scene.engines.asked) == planned


def test_a_clock_that_is_put_back_costs_one_interval() -> None:
    scene = bound(waiting=16)
    scene.clock.seconds = 3600.0
    scene.settle()
    planned = len(scene.engines.asked)
    scene.clock.seconds = 60.0
    assert scene.look() == INTERVAL
    scene.later()
    assert len(scene.engines.asked) == planned + 1


def test_an_edit_of_its_spec_is_planned_at_once() -> None:
    scene = bound(waiting=16)
    scene.settle()
    planned = len(scene.engines.asked)
    spec = {"spec": {"roles": [{"name": "server", "minReplicas": 2, "maxReplicas": 9}]}}
    scene.server.merge("modeldeploymentscalers", "chat", "team", spec, by="user")
    scene.settle()
    assert len(scene.engines.asked) == planned + 1


def test_a_scaler_that_is_edited_while_its_engines_are_read_is_ruled_on_anew() -> None:
    scene = bound()
    suspended = {"spec": {"suspend": True}}
    scene.engines.meanwhile = lambda: scene.server.merge("modeldeploymentscalers", "chat", "team", suspended, by="user")
    scene.settle()
    assert scene.replicas == 2
    assert scene.annotation(keys.SCALER_BINDING) == {}
    assert scene.status["conditions"][0]["reason"] == "Suspended"


def test_whoever_led_before_and_sees_nothing_new_takes_back_nothing_that_was_told_since() -> None:
    scene = bound(waiting=16)
    scene.settle()
    before, seen = scene.controller, scene.watched
    scene.start()
    scene.lead()
    scene.engines.waiting = 30
    scene.later(2 * INTERVAL)
    told = scene.status
    assert told["lastCommit"]["vector"] == {"server": 4}
    scene.engines.waiting = 1
    assert seen.scalers.get("team", "chat") is not None
    scene.controller = before
    scene.clock.advance(scene.clock.seconds + INTERVAL)
    assert scene.look() == SHORTLY
    assert scene.status == told


def test_a_store_that_does_not_show_the_last_write_decides_nothing() -> None:
    scene = bound()
    scene.deaf = True
    scene.settle()
    assert scene.replicas == 4
    scene.later()
    assert len(scene.journal.lines) == 1


def test_a_write_that_is_refused_is_told_with_its_words() -> None:
    scene = bound()
    refusal = Forbidden(403, "Forbidden", "admission webhook denied the request: MD052", Details())
    scene.client.before = once(raises(refusal))
    scene.settle()
    assert scene.replicas == 2
    (note,) = scene.notes("WriteRefused")
    assert "server 2 -> 4 was refused" in note
    assert "MD052" in scene.status["conditions"][1]["message"]
    scene.later()
    assert scene.replicas == 4
    assert "MD052" not in scene.status["conditions"][1]["message"]


def test_a_webhook_that_is_away_costs_no_sample() -> None:
    scene = bound()
    away = ServerFailure(500, "InternalError", "failed calling webhook", Details())
    scene.client.before = once(raises(away))
    scene.settle()
    assert scene.replicas == 2
    assert [line.committed for line in scene.journal.lines] == [False]
    assert "failed calling webhook" in scene.status["conditions"][1]["message"]
    scene.later()
    assert scene.replicas == 4


def test_counts_that_somebody_else_wrote_are_told_with_the_writer() -> None:
    scene = bound(waiting=16)
    scene.engines.waiting = 30
    scene.later()
    scene.serve()
    held: dict[str, Any] = {'k:{"name":"server"}': {"f:replicas": {}}}
    roles = [{**scene.target["spec"]["roles"][0], "replicas": 2}]
    fields = [{"manager": "argocd-controller", "fieldsV1": {"f:spec": {"f:roles": held}}}]
    scene.edit({"metadata": {"managedFields": fields}, "spec": {"roles": roles}})
    scene.serve()
    scene.later()
    (note,) = scene.notes("CountsReverted")
    assert note.startswith("server 4 -> 2 was written by argocd-controller, and this scaler owns the counts")


def test_a_deleted_scaler_releases_its_target_and_goes() -> None:
    scene = bound(waiting=16)
    scene.settle()
    scene.server.delete("modeldeploymentscalers", "chat", "team")
    scene.look()
    assert scene.annotation(keys.SCALER_BINDING) == {}
    assert scene.server.find("modeldeploymentscalers", "chat", "team") is None
    assert scene.replicas == 2


def test_a_term_is_not_used_again_although_nothing_was_committed_under_it() -> None:
    scene = bound(waiting=16)
    for suspend in (True, False):
        spec = {"spec": {"suspend": suspend}}
        scene.server.merge("modeldeploymentscalers", "chat", "team", spec, by="user")
        scene.settle()
        scene.start()
        scene.lead()
        scene.look()
    assert scene.annotation(keys.SCALER_BINDING)["term"] == 2


def test_shadow_writes_nothing_but_its_status() -> None:
    scene = Scene()
    scene.engines.waiting = 30
    scene.scale(mode="Shadow")
    scene.settle()
    scene.later()
    written = {(each.plural, each.subresource) for each in scene.server.story if each.by == keys.FIELD_MANAGER}
    assert written == {("modeldeploymentscalers", "status")}
    assert scene.status["roles"][0]["constrainedReplicas"] == 4


def test_growth_that_nobody_admitted_is_not_taken_back_by_a_scaler_that_owns_nothing_any_more() -> None:
    scene = bound()
    scene.settle()
    assert scene.status["pendingCohort"]["baselineVector"] == {"server": 2}
    scene.server.merge("modeldeploymentscalers", "chat", "team", {"spec": {"mode": "Shadow"}}, by="user")
    scene.settle()
    scene.later(600)
    assert scene.annotation(keys.SCALER_BINDING) == {}
    assert "pendingCohort" not in scene.status
    plan = scene.journal.lines[-1].plan
    assert plan is not None
    assert plan.move is None
    assert scene.replicas == 4


def test_scalers_that_are_there_at_the_start_do_not_plan_all_at_once() -> None:
    scene = bound(waiting=16)
    scene.settle()
    scene.start()
    scene.lead()
    rest = scene.look()
    assert rest is not None
    assert 0 < rest <= INTERVAL
    assert len(scene.journal.lines) == 1
