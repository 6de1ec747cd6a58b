"""The store: what is present, what its indexes say, and whom it tells."""

import asyncio
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kube_worlds import UNHURRIED, pod
from modeldeployment.kube import Store, shapes


def by_role(one: shapes.Pod) -> Iterable[str]:
    return [one.metadata.labels["role"]] if "role" in one.metadata.labels else []


def told_store() -> tuple[Store[shapes.Pod], list[tuple[str, str]]]:
    told: list[tuple[str, str]] = []

    def tell(old: shapes.Pod | None, new: shapes.Pod | None) -> None:
        told.append(
            (
                f"{old.metadata.uid}@{old.metadata.resource_version}" if old else "-",
                f"{new.metadata.uid}@{new.metadata.resource_version}" if new else "-",
            )
        )

    return Store({"role": by_role}, on_change=[tell]), told


def test_changes_are_told_with_before_and_after() -> None:
    store, told = told_store()
    store.put(pod(version=1))
    store.put(pod(version=2))
    store.remove(pod(version=3))
    assert told == [("-", "u1@1"), ("u1@1", "u1@2"), ("u1@2", "-")]
    assert store.revision == 3


def test_an_object_that_changes_keeps_its_place_among_those_of_its_value() -> None:
    store, _ = told_store()
    for name, version in (("a", 1), ("b", 2), ("a", 3)):
        store.put(pod(name, uid=name, version=version, labels={"role": "engine"}))
    assert [each.metadata.name for each in store.by_index("role", "engine")] == ["a", "b"]
    store.put(pod("a", uid="a", version=4, labels={"role": "router"}))
    assert [each.metadata.name for each in store.by_index("role", "engine")] == ["b"]
    assert [each.metadata.name for each in store.by_index("role", "router")] == ["a"]


def test_a_version_seen_already_changes_nothing() -> None:
    store, told = told_store()
    store.put(pod(version=5))
    store.put(pod(version=5))
    store.put(pod(version=4))
    assert told == [("-", "u1@5")]


def test_an_object_of_the_same_name_with_another_uid_replaces_the_one_that_went() -> None:
    store, told = told_store()
    store.put(pod(version=5))
    store.put(pod(uid="u2", version=9))
    assert told == [("-", "u1@5"), ("u1@5", "-"), ("-", "u2@9")]


def test_a_late_deletion_does_not_take_the_successor() -> None:
    store, told = told_store()
    store.put(pod(uid="u2", version=9))
    store.remove(pod(uid="u1", version=8))
    assert store.get("models", "engine-0") is not None
    assert told == [("-", "u2@9")]


def test_a_list_takes_out_what_it_does_not_name() -> None:
    store, told = told_store()
    store.replace([pod("a", uid="a", version=1), pod("b", uid="b", version=2)], "7")
    told.clear()
    store.replace([pod("b", uid="b", version=2), pod("c", uid="c", version=8)], "9")
    assert told == [("a@1", "-"), ("-", "c@8")]
    assert store.revision == 9


async def test_it_is_synced_after_the_first_list() -> None:
    store, _ = told_store()
    waiting = asyncio.create_task(store.wait_synced())
    store.put(pod())
    await asyncio.sleep(0)
    assert not store.synced
    store.replace([], "12")
    await waiting
    assert store.synced


def test_a_bookmark_moves_the_revision_and_nothing_moves_it_back() -> None:
    store, _ = told_store()
    store.advance("50")
    store.advance("20")
    assert store.revision == 50


def test_a_changed_label_moves_an_object_to_another_value() -> None:
    store, _ = told_store()
    store.put(pod(version=1, labels={"role": "prefill"}))
    store.put(pod(version=2, labels={"role": "decode"}))
    assert store.by_index("role", "prefill") == ()
    assert [one.metadata.resource_version for one in store.by_index("role", "decode")] == ["2"]


def test_an_unknown_index_is_an_error() -> None:
    store, _ = told_store()
    with pytest.raises(KeyError):
        store.by_index("node", "node-1")


def test_a_subscriber_hears_of_later_changes() -> None:
    store, _ = told_store()
    heard: list[str] = []
    store.put(pod(version=1))
    store.subscribe(lambda _, new: heard.append(new.metadata.resource_version if new else "-"))
    store.put(pod(version=2))
    assert heard == ["2"]


def test_equal_texts_of_different_objects_are_kept_once() -> None:
    store, _ = told_store()
    store.put(pod("a", labels={"role-of-the-replica": "prefill-of-the-model"}))
    store.put(pod("b", labels={"role-of-the-replica": "prefill-of-the-model"}))
    one, other = store.items()
    assert next(iter(one.metadata.labels)) is next(iter(other.metadata.labels))
    assert one.metadata.labels["role-of-the-replica"] is other.metadata.labels["role-of-the-replica"]
    assert one.spec.node_name is other.spec.node_name


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "remove", "replace"]),
        st.sampled_from("abc"),
        st.sampled_from(["u1", "u2"]),
        st.sampled_from(["prefill", "decode", ""]),
    ),
    max_size=30,
)


@UNHURRIED
@given(STEPS)
def test_indexes_and_told_changes_equal_what_is_there(steps: list[tuple[str, str, str, str]]) -> None:
    mirror: dict[tuple[str, str], str] = {}

    def follow(old: shapes.Pod | None, new: shapes.Pod | None) -> None:
        if old is not None:
            assert mirror.pop((old.metadata.namespace, old.metadata.name)) == old.metadata.resource_version
        if new is not None:
            assert (new.metadata.namespace, new.metadata.name) not in mirror
            mirror[new.metadata.namespace, new.metadata.name] = new.metadata.resource_version

    store: Store[shapes.Pod] = Store({"role": by_role}, on_change=[follow])
    for version, (step, name, uid, role) in enumerate(steps, start=1):
        one = pod(name, uid=uid, version=version, labels={"role": role} if role else {})
        match step:
            case "put":
                store.put(one)
            case "remove":
                store.remove(one)
            case _:
                store.replace([one], str(version))
        present = list(store.items())
        assert mirror == {("models", item.metadata.name): item.metadata.resource_version for item in present}
        for value in ("prefill", "decode"):
            assert {item.metadata.name for item in store.by_index("role", value)} == {
                item.metadata.name for item in present if item.metadata.labels.get("role") == value
            }
        assert store.revision == version
