"""A reading beside an earlier one is what a first one is: what did not change is only not worked out again."""

from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.api import keys
from modeldeployment.kube import shapes
from modeldeployment.reconcile.snapshots import Snapshots
from modeldeployment.reconcile.watching import Key, Watched
from modeldeployment.render import Policy
from reconcile_stored import VERSIONS, stored

SPEC = {
    "model": {"name": "qwen"},
    "engine": {"name": "vLLM", "image": "e:1"},
    "roles": [{"name": "server", "instanceType": "a10"}],
}

changes = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(("ready", "lost", "pod gone", "workload gone", "reserved")), st.integers(0, 5)),
        st.tuples(st.just("workload"), st.sets(st.integers(0, 5), min_size=1, max_size=3)),
        st.tuples(st.just("read"), st.just(0)),
    ),
    max_size=30,
)


def pod(number: int, *, ready: bool) -> shapes.Pod:
    """One Pod of `plain`."""
    owner = shapes.OwnerReference(
        api_version=keys.API_VERSION, kind="ModelDeployment", name="plain", uid="team-plain", controller=True
    )
    meta = shapes.ObjectMeta(
        name=f"pod-{number}",
        namespace="team",
        uid=f"uid-{number}",
        resource_version=str(next(VERSIONS)),
        owner_references=(owner,),
    )
    said = shapes.Condition(type="Ready", status="True" if ready else "False")
    return shapes.Pod(metadata=meta, status=shapes.PodStatus(conditions=(said,)))


def workload(numbers: set[int]) -> shapes.Workload:
    """A Workload of some Pods, named by the first."""
    owners = tuple(
        shapes.OwnerReference(api_version="v1", kind="Pod", name=f"pod-{each}", uid=f"uid-{each}")
        for each in sorted(numbers)
    )
    name = f"workload-{min(numbers)}"
    meta = shapes.ObjectMeta(
        name=name,
        namespace="team",
        uid=f"uid-{name}",
        resource_version=str(next(VERSIONS)),
        owner_references=owners,
    )
    return shapes.Workload(metadata=meta)


def plain(*reserved: int) -> shapes.Custom:
    """The deployment, with Pods that a retirement reserved."""
    kept = {
        "roleName": "server",
        "replicaOrdinal": 0,
        "observedGeneration": 1,
        "targetMemberUIDs": [f"uid-{each}" for each in reserved],
        "state": "Draining",
    }
    return stored("plain", SPEC, {"retirement": kept} if reserved else {}, namespace="team", uid="team-plain")


def happen(stores: Watched, what: str, which: int | set[int]) -> None:
    """Let one thing happen to what is stored."""
    if isinstance(which, set):
        stores.workloads.put(workload(which))
    elif what in ("ready", "lost"):
        stores.pods.put(pod(which, ready=what == "ready"))
    elif what == "reserved":
        stores.deployments.put(plain(which))
    elif what == "pod gone" and (last := stores.pods.get("team", f"pod-{which}")):
        stores.pods.remove(last)
    elif what == "workload gone" and (gone := stores.workloads.get("team", f"workload-{which}")):
        stores.workloads.remove(gone)


@given(changes)
def test_whatever_changed_in_between_a_reading_is_what_a_first_one_is(
    changed: list[tuple[str, int | set[int]]],
) -> None:
    stores = Watched(set[Key]().add)
    stores.deployments.put(plain())
    remembering = Snapshots(stores, Policy())
    for what, which in (*changed, ("read", 0)):
        if what != "read":
            happen(stores, what, which)
            continue
        there = stores.deployments.get("team", "plain")
        assert there is not None
        again, first = (each.of(there, native=True) for each in (remembering, Snapshots(stores, Policy())))
        assert again.members == first.members
        assert again.workloads == first.workloads


def test_a_pod_that_did_not_change_is_the_very_same_member() -> None:
    stores = Watched(set[Key]().add)
    there = plain()
    stores.deployments.put(there)
    for number in range(3):
        stores.pods.put(pod(number, ready=True))
    remembering = Snapshots(stores, Policy())
    before = remembering.of(there, native=True).members
    stores.pods.put(pod(1, ready=False))
    now = remembering.of(there, native=True).members
    assert now[0] is before[0]
    assert now[2] is before[2]
    assert (before[1].ready, now[1].ready) == (True, False)
