"""What a pass sends, and what it does about answers (facts reconcile §3)."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
from modeldeployment.api import ModelDeployment, RetirementState, keys
from modeldeployment.kube import shapes
from modeldeployment.kube.errors import AlreadyExists, ApiError, Conflict, Forbidden, NotFound
from modeldeployment.kube.requests import Request
from modeldeployment.reconcile import Ask, CreateFailed, Decision, Snapshot, decide, deploying, snapshots
from modeldeployment.reconcile.deciding.ground import Ground
from modeldeployment.reconcile.retiring.reservation import Reservation
from modeldeployment.render import Facts, Rendering, Seat, render
from reconcile_rim import Rim, refusal
from reconcile_rim import pod as stored_pod
from reconcile_stored import VERSIONS, binding, stored
from reconcile_worlds import deployment, rendered_role, rendering

OURS = (keys.FINALIZER,)
BASE = "/apis/worker.gpustack.ai/v1/namespaces/team"
CHAT = f"{BASE}/modeldeployments/chat"


async def test_the_first_pass_of_two_replicas_is_four_creates_one_update_and_one_status_write() -> None:
    rim = Rim()
    rim.store()
    assert await rim.run() == 2.0
    assert sorted(rim.client.writes()) == [
        f"PATCH {CHAT}",
        f"PATCH {CHAT}/status",
        "POST /api/v1/namespaces/team/pods",
        "POST /api/v1/namespaces/team/pods",
        "POST /api/v1/namespaces/team/services",
        "POST /api/v1/namespaces/team/services",
    ]
    order = rim.client.writes()
    assert order.index(f"PATCH {CHAT}") < order.index("POST /api/v1/namespaces/team/pods")


async def test_a_deployment_that_is_gone_ends_the_pass_without_a_request() -> None:
    rim = Rim()
    assert await rim.run() is None
    assert rim.client.sent == []


def refusing(ending: str, error: ApiError) -> Any:
    """A script that refuses requests whose path ends so."""

    def refuse(request: Request) -> ApiError | None:
        path = request.target.partition("?")[0]
        return error if request.method != "GET" and path.endswith(ending) else None

    return refuse


async def test_a_conflict_on_status_is_looked_at_again_shortly_and_is_no_error() -> None:
    rim = Rim()
    rim.client.refuse = refusing("/status", refusal(Conflict, 409))
    rim.store(OURS)
    assert await rim.run() == pytest.approx(0.1)
    assert rim.client.writes() == [f"PATCH {CHAT}/status"]


@pytest.mark.parametrize("ending", ["/modeldeployments/chat/status", "/modeldeployments/chat"])
async def test_a_deployment_that_went_meanwhile_ends_the_pass_quietly(ending: str) -> None:
    rim = Rim()
    rim.client.refuse = refusing(ending, refusal(NotFound, 404))
    rim.store()
    assert await rim.run() is None


async def test_any_other_refusal_of_the_status_is_an_error() -> None:
    rim = Rim()
    rim.client.refuse = refusing("/status", refusal(Forbidden, 403))
    rim.store(OURS)
    with pytest.raises(Forbidden):
        await rim.run()


async def test_creates_that_fail_stop_neither_the_others_nor_the_services_and_the_first_error_is_raised() -> None:
    rim = Rim()
    rim.client.refuse = refusing("/pods", refusal(Forbidden, 403))
    rim.store(OURS)
    with pytest.raises(CreateFailed, match="2 of 2 Pods could not be created"):
        await rim.run()
    assert rim.client.writes().count("POST /api/v1/namespaces/team/pods") == 2
    assert rim.client.writes().count("POST /api/v1/namespaces/team/services") == 2


def cached(used_by: list[dict[str, str]] | None = None) -> Rim:
    """A rim whose deployment names the binding `share`, which so many use."""
    rim = Rim()
    granted: dict[str, Any] = {"phase": "Ready", "conditions": [{"type": "QuotaGranted", "status": "True"}]}
    rim.watched.bindings.put(binding({**granted, "usedBy": used_by or []}))
    rim.store(OURS, kvCache={"poolRef": {"name": "share"}})
    return rim


OTHER = {"kind": "ModelDeployment", "namespace": "", "name": "zebra"}
ENTRY = {"kind": "ModelDeployment", "namespace": "", "name": "chat"}


async def test_a_claim_names_the_version_it_was_read_from_and_keeps_who_is_there() -> None:
    rim = cached([OTHER])
    version = rim.watched.bindings.get("team", "share")
    assert version is not None
    await rim.run()
    (claim,) = [each for each in rim.client.sent if "kvcachepoolbindings" in each.target and each.method == "PATCH"]
    assert claim.target.partition("?")[0] == f"{BASE}/kvcachepoolbindings/share/status"
    assert msgspec.json.decode(claim.body or b"") == {
        "metadata": {"resourceVersion": version.metadata.resource_version},
        "status": {"usedBy": [ENTRY, OTHER]},
    }
    order = rim.client.writes()
    assert order.index(f"PATCH {BASE}/kvcachepoolbindings/share/status") < order.index(
        "POST /api/v1/namespaces/team/pods"
    )


@pytest.mark.parametrize(("error", "status", "again"), [(Conflict, 409, 0.1), (NotFound, 404, None)])
async def test_a_claim_that_loses_ends_the_pass_quietly_before_any_replica(
    error: type[ApiError], status: int, again: float | None
) -> None:
    rim = cached()
    rim.client.refuse = refusing("/share/status", refusal(error, status))
    assert await rim.run() == (again if again is None else pytest.approx(again))
    assert "POST /api/v1/namespaces/team/pods" not in rim.client.writes()


def starting(rim: Rim, ready: int, *, of: int = 20) -> None:
    """Put the Pods of so many replicas into the store, of which so many are ready."""
    roles = [{"name": "server", "replicas": of, "instanceType": "a10"}]
    template = rendered_role(rendering(deployment(replicas=of))).template
    owner = {"apiVersion": keys.API_VERSION, "kind": "ModelDeployment", "name": "chat", "uid": "uid-chat"}
    for ordinal in range(of):
        metadata = {
            "name": f"p{ordinal}",
            "namespace": "team",
            "uid": f"p{ordinal}",
            "labels": {**template.labels(Seat(ordinal, 0)), keys.ELIGIBLE: keys.TRUE},
            "ownerReferences": [{**owner, "controller": True}],
        }
        rim.watched.pods.put(stored_pod({"metadata": metadata}, ready=ordinal < ready))
    if not rim.spec:
        rim.store(OURS, roles=roles)


async def test_figures_that_move_within_a_second_share_a_status_write_and_the_last_is_written() -> None:
    rim = Rim()
    starting(rim, 1)
    await rim.run()
    assert len(rim.client.statuses()) == 1
    for ready in range(2, 10):
        starting(rim, ready)
        after = await rim.run(later=timedelta(milliseconds=100))
        assert after is not None
        assert after <= 1.0
    assert len(rim.client.statuses()) == 1
    await rim.run(later=timedelta(milliseconds=200))
    assert [each["roles"][0]["ready"] for each in rim.client.statuses()] == [1, 9]
    await rim.run(later=timedelta(seconds=5))
    assert len(rim.client.statuses()) == 2


async def test_a_phase_that_flips_is_written_at_once() -> None:
    rim = Rim()
    starting(rim, 0)
    await rim.run()
    starting(rim, 1)
    await rim.run(later=timedelta(milliseconds=100))
    assert [each["phase"] for each in rim.client.statuses()] == ["Starting", "Degraded"]


async def test_while_sets_are_admitted_a_status_waits_a_second_and_no_longer() -> None:
    rim = Rim()
    starting(rim, 0)
    await rim.run()
    rim.busy = True
    starting(rim, 1)
    assert await rim.run(later=timedelta(seconds=5)) == pytest.approx(1.0)
    starting(rim, 2)
    assert await rim.run(later=timedelta(milliseconds=600)) == pytest.approx(0.4)
    assert len(rim.client.statuses()) == 1
    await rim.run(later=timedelta(milliseconds=400))
    assert [each["roles"][0]["ready"] for each in rim.client.statuses()] == [0, 2]


async def test_an_api_server_that_is_slow_to_take_a_status_is_given_the_next_later() -> None:
    rim = Rim()
    starting(rim, 0)

    def slowly(request: Request) -> None:
        if request.method == "PATCH":
            rim.now += timedelta(seconds=8)

    rim.client.refuse = slowly
    await rim.run()
    rim.busy = True
    starting(rim, 1)
    await rim.run(later=timedelta(seconds=5))
    assert await rim.run() == pytest.approx(4.0)
    rim.client.refuse = lambda _: None
    await rim.run(later=timedelta(seconds=4))
    assert [each["roles"][0]["ready"] for each in rim.client.statuses()] == [0, 1]


async def test_while_sets_are_admitted_a_mere_figure_waits_five_seconds_but_a_flip_that_joins_it_only_one() -> None:
    rim = Rim()
    starting(rim, 1)
    await rim.run()
    rim.busy = True
    starting(rim, 2)
    assert await rim.run(later=timedelta(seconds=60)) == pytest.approx(5.0)
    starting(rim, 0)
    assert await rim.run(later=timedelta(seconds=3)) == pytest.approx(1.0)
    assert len(rim.client.statuses()) == 1
    await rim.run(later=timedelta(seconds=1))
    assert [each["phase"] for each in rim.client.statuses()] == ["Degraded", "Starting"]
    starting(rim, 1)
    await rim.run(later=timedelta(seconds=5))
    await rim.run(later=timedelta(seconds=1))
    starting(rim, 2)
    await rim.run(later=timedelta(seconds=60))
    await rim.run(later=timedelta(seconds=5))
    assert [each["roles"][0]["ready"] for each in rim.client.statuses()] == [1, 0, 1, 2]


async def test_a_status_that_waited_is_written_as_soon_as_no_set_is_admitted() -> None:
    rim = Rim()
    starting(rim, 0)
    await rim.run()
    rim.busy = True
    starting(rim, 1)
    await rim.run(later=timedelta(seconds=5))
    rim.busy = False
    await rim.run(later=timedelta(milliseconds=100))
    assert [each["phase"] for each in rim.client.statuses()] == ["Starting", "Degraded"]


async def test_each_restart_in_a_deployment_at_rest_is_announced_once() -> None:
    rim = Rim()
    starting(rim, 2, of=2)
    await rim.run()
    told = []
    for restarts in (0, 1, 1, 2):
        first = rim.watched.pods.get("team", "p0")
        assert first is not None
        container = shapes.ContainerStatus(name="engine", restart_count=restarts)
        status = msgspec.structs.replace(first.status, container_statuses=(container,))
        metadata = msgspec.structs.replace(first.metadata, resource_version=str(next(VERSIONS)))
        rim.watched.pods.put(msgspec.structs.replace(first, metadata=metadata, status=status))
        await rim.run(later=timedelta(seconds=5))
        told.append(rim.controller.tally.events)
    assert told == [0, 1, 1, 2]


def two_of_one(rim: Rim) -> None:
    """Store a deployment of one replica that still has two, of which the second is decided to go."""
    going = Reservation(
        *("server", 1, 1, frozenset({"p1"}), "", RetirementState.DELETING, "", rim.now),
        deadline=rim.now,
        phase_started=rim.now,
    )
    rim.status = {"retirement": going.body()}
    rim.store(OURS, roles=[{"name": "server", "replicas": 1, "instanceType": "a10"}])
    starting(rim, 2, of=2)


@pytest.mark.parametrize(("error", "status"), [(NotFound, 404), (Conflict, 409)])
async def test_a_delete_of_what_is_gone_or_is_another_by_now_is_a_success(error: type[ApiError], status: int) -> None:
    rim = Rim()
    rim.client.refuse = lambda request: refusal(error, status) if request.method == "DELETE" else None
    two_of_one(rim)
    assert await rim.run() == 2.0
    (delete,) = [each for each in rim.client.sent if each.method == "DELETE"]
    assert delete.target.partition("?")[0] == "/api/v1/namespaces/team/pods/p1"
    assert msgspec.json.decode(delete.body or b"")["preconditions"] == {"uid": "p1"}


async def test_an_object_that_somebody_created_first_is_no_error() -> None:
    rim = Rim()
    rim.client.refuse = refusing("/services", refusal(AlreadyExists, 409))
    rim.store(OURS)
    assert await rim.run() == 2.0


async def test_a_teardown_says_so_before_it_deletes_anything() -> None:
    rim = Rim()
    starting(rim, 2, of=2)
    held = rim.watched.deployments.get("team", "chat")
    assert held is not None
    version = str(int(held.metadata.resource_version) + 1000)
    meta = msgspec.structs.replace(held.metadata, deletion_timestamp="2030-01-01T00:00:00Z", resource_version=version)
    rim.watched.deployments.put(msgspec.structs.replace(held, metadata=meta))
    assert await rim.run() == 2.0
    assert rim.client.writes()[0] == f"PATCH {CHAT}/status"
    assert sorted(rim.client.writes()[1:]) == [
        "DELETE /api/v1/namespaces/team/pods/p0",
        "DELETE /api/v1/namespaces/team/pods/p1",
    ]
    assert rim.client.statuses() == [{"phase": "Deleting", "phaseMessage": "2 Pods left"}]


async def test_a_settled_deployment_costs_no_request_at_all() -> None:
    rim = Rim()
    starting(rim, 2, of=2)
    await rim.run()
    await rim.run(later=timedelta(seconds=5))
    sent = len(rim.client.sent)
    assert await rim.run(later=timedelta(hours=1)) is None
    assert rim.client.sent[sent:] == []


@pytest.fixture
def renders(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the deployments that were rendered, in order."""
    done: list[str] = []

    def noted(deployment: ModelDeployment, facts: Facts) -> Rendering:
        done.append(deployment.metadata.name)
        return render(deployment, facts)

    monkeypatch.setattr(snapshots, "render", noted)
    return done


async def test_what_is_there_is_rendered_ahead_of_the_first_pass_which_does_not_render_it_again(
    renders: list[str],
) -> None:
    rim = Rim()
    rim.store(OURS)
    described(rim)
    await rim.controller.prepare()
    assert (renders, [each.target for each in rim.client.sent]) == (["chat"], ["/version"])
    await rim.run()
    assert renders == ["chat"]


async def test_a_deployment_that_cannot_be_read_does_not_hold_up_those_that_can(renders: list[str]) -> None:
    rim = Rim()
    rim.watched.deployments.put(stored("bad", {"engine": {"name": 7}}, namespace="team", uid="uid-bad"))
    rim.store(OURS)
    described(rim)
    await rim.controller.prepare()
    assert renders == ["chat"]


async def test_nothing_is_rendered_ahead_once_pods_have_been_listed(renders: list[str]) -> None:
    rim = Rim()
    rim.store(OURS)
    described(rim)
    rim.watched.pods.replace((), "1")
    await rim.controller.prepare()
    assert renders == []


def described(rim: Rim) -> None:
    """Let everything that deployments are rendered from have been listed."""
    watched = rim.watched
    for store in watched.stores().values():
        if store is not watched.pods:
            store.replace(tuple(store.items()), "1")


async def test_what_a_pass_wrote_to_status_is_not_decided_on_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rim = Rim()
    starting(rim, 2, of=2)
    await rim.run()
    starting(rim, 1, of=2)
    decided: list[object] = []

    def noted(snapshot: Snapshot, now: datetime, ground: Ground | None) -> Decision | Ask:
        decided.append(snapshot)
        return decide(snapshot, now, ground)

    monkeypatch.setattr(deploying, "decide", noted)
    for _ in range(3):
        await rim.run(later=timedelta(seconds=5))
    assert (len(decided), rim.controller.tally.status_writes) == (1, 2)
