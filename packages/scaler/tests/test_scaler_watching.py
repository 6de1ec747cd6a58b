"""Which changes let a scaler look again, and which are none of its business."""

from modeldeployment.scaler.watching import Key, Watched
from scaler_worlds import deployment, pod, scaler, shared, workload


def watched() -> tuple[Watched, list[str]]:
    """Stores, and who was woken since."""
    woken: list[str] = []
    return Watched(lambda key: woken.append(str(key))), woken


def test_a_scaler_that_comes_is_looked_at() -> None:
    stores, woken = watched()
    stores.scalers.put(scaler())
    assert woken == ["team/chat"]


def test_an_edit_wakes_and_a_status_does_not() -> None:
    stores, woken = watched()
    stores.scalers.put(scaler())
    stores.scalers.put(scaler(version=11, status={"observedGeneration": 1}))
    assert len(woken) == 1
    stores.scalers.put(scaler(version=12, generation=2))
    stores.scalers.put(scaler(version=13, generation=2, leaving=True))
    assert len(woken) == 3


def test_a_target_wakes_all_that_name_it() -> None:
    stores, woken = watched()
    stores.scalers.put(scaler())
    stores.scalers.put(scaler("second", uid="uid-2"))
    stores.scalers.put(scaler("other", uid="uid-3", target="another"))
    woken.clear()
    stores.deployments.put(deployment())
    assert woken == ["team/chat", "team/second"]


def test_a_target_wakes_by_what_a_ruling_depends_on() -> None:
    stores, woken = watched()
    stores.scalers.put(scaler())
    stores.deployments.put(deployment())
    woken.clear()
    stores.deployments.put(deployment(version=11, annotations={"team": "x"}))
    assert woken == []
    bound = {"modeldeployment.gpustack.ai/scaler-binding": "x"}
    stores.deployments.put(deployment(version=12, annotations=bound))
    stores.deployments.put(deployment(version=13, annotations=bound, generation=2))
    stores.deployments.put(deployment(version=14, annotations=bound, generation=2, leaving=True))
    stores.deployments.remove(deployment(version=15))
    assert woken == ["team/chat"] * 4


def test_pods_and_workloads_wake_nobody() -> None:
    stores, woken = watched()
    stores.scalers.put(scaler())
    stores.deployments.put(deployment())
    woken.clear()
    stores.pods.put(pod())
    stores.workloads.put(workload("uid-chat-server-0"))
    assert woken == []


def test_shared_stores_are_followed_and_not_kept() -> None:
    kept = shared()
    woken: list[Key] = []
    stores = Watched(woken.append, kept)
    stores.scalers.put(scaler())
    kept.deployments.put(deployment())
    assert woken == [Key("team", "chat")] * 2
    assert stores.pods is kept.pods
