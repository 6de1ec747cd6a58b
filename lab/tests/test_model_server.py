"""The fake API server answers as the real one does (facts control-plane §8, kwok §4)."""

import pytest
from model_worlds import furnished, member
from modeldeployment.kube import AlreadyExists, Conflict, Invalid, NotFound
from modeldeployment.lab.model import World
from modeldeployment.lab.model.patches import applied, edited, merged


def _account(**metadata: object) -> dict[str, object]:
    return {"kind": "ServiceAccount", "metadata": {"name": "one", **metadata}}


def _put(world: World, patch: dict[str, object]) -> dict[str, object]:
    return world.server.merge("serviceaccounts", "one", "team", patch, by="x")


def test_a_name_is_taken_once_and_generated_names_are_the_same_in_every_run() -> None:
    made = []
    for _ in range(2):
        with World(5) as world:
            world.create(_account())
            with pytest.raises(AlreadyExists, match='serviceaccounts "one" already exists'):
                world.create(_account())
            made.append(world.create({"kind": "ServiceAccount", "metadata": {"generateName": "two-"}}))
    assert made[0] == made[1]
    assert len(made[0]) == len("two-") + 5


def test_a_patch_that_changes_nothing_keeps_the_version_and_nobody_hears_of_it() -> None:
    with World() as world:
        world.create(_account(labels={"a": "1"}))
        before = world.server.revision
        _put(world, {"metadata": {"labels": {"a": "1"}}})
        assert world.server.revision == before
        assert not world.story[-1].changed


def test_a_stale_version_and_another_uid_are_conflicts() -> None:
    with World() as world:
        world.create(_account())
        with pytest.raises(Conflict, match="the object has been modified"):
            _put(world, {"metadata": {"resourceVersion": "1", "labels": {"a": "1"}}})
        with pytest.raises(Conflict, match="UID in precondition: other"):
            _put(world, {"metadata": {"uid": "other"}})
        with pytest.raises(Conflict):
            world.server.delete("serviceaccounts", "one", "team", uid="other")
        with pytest.raises(Conflict):
            world.server.delete("serviceaccounts", "one", "team", resource_version="1")


def test_a_spec_is_numbered_and_a_status_is_written_apart() -> None:
    with World() as world:
        world.fleet(instance_type="a10")
        world.create(world.manifest("chat"))
        server = world.server
        server.merge("modeldeployments", "chat", "team", {"status": {"phase": "x"}, "spec": {"a": 1}}, by="x")
        found = server.get("modeldeployments", "chat", "team")
        assert "status" not in found
        assert found["metadata"]["generation"] == 2
        change = {"status": {"phase": "x"}, "spec": {"a": 2}, "metadata": {"labels": {"a": "1"}}}
        server.merge("modeldeployments", "chat", "team", change, by="x", subresource="status")
        found = server.get("modeldeployments", "chat", "team")
        assert (found["status"], found["spec"]["a"], found["metadata"]["generation"]) == ({"phase": "x"}, 1, 2)
        assert "labels" not in found["metadata"]


def test_a_finalizer_keeps_what_is_deleted_until_it_goes_and_none_can_be_added_then() -> None:
    with World() as world:
        world.create(_account(finalizers=["a"]))
        assert world.server.delete("serviceaccounts", "one", "team") is not None
        with pytest.raises(Invalid, match="no new finalizers can be added if the object is being deleted"):
            _put(world, {"metadata": {"finalizers": ["a", "b"]}})
        _put(world, {"metadata": {"finalizers": []}})
        with pytest.raises(NotFound, match='serviceaccounts "one" not found'):
            world.server.get("serviceaccounts", "one", "team")
        assert world.story[-1].new is None


def test_a_running_pod_gets_its_grace_and_one_on_no_node_needs_none() -> None:
    with furnished() as world:
        world.create(member(terminationGracePeriodSeconds=40))
        world.settle()
        left = world.server.delete("pods", "g-0", "team")
        assert left is not None
        assert left["metadata"]["deletionGracePeriodSeconds"] == 40
        world.quota("a10", 0)
        world.create(member("h"))
        left = world.server.delete("pods", "h-0", "team")
        assert left is not None
        assert left["metadata"]["deletionGracePeriodSeconds"] == 0


def test_what_has_no_owner_left_is_collected_and_a_lost_owner_of_several_is_forgotten() -> None:
    with World() as world:
        world.create(_account())
        uid = world.server.get("serviceaccounts", "one", "team")["metadata"]["uid"]
        ours = {"apiVersion": "v1", "kind": "ServiceAccount", "name": "one", "uid": uid}
        lost = {**ours, "name": "gone", "uid": "gone"}
        for name, owners in (("both", [ours, lost]), ("orphan", [lost])):
            world.create({"kind": "ConfigMap", "metadata": {"name": name, "ownerReferences": owners}})
        world.settle()
        assert world.server.get("configmaps", "both", "team")["metadata"]["ownerReferences"] == [ours]
        assert world.server.find("configmaps", "orphan", "team") is None


def test_merge_patches_take_out_what_is_null_and_replace_lists() -> None:
    assert merged({"a": {"b": 1, "c": 2}, "d": [1, 2]}, {"a": {"b": None}, "d": [3]}) == {"a": {"c": 2}, "d": [3]}


def test_json_patches_add_replace_remove_and_refuse_paths_that_are_not_there() -> None:
    whole = {"a": [{"b": 1}], "c": 1}
    operations: list[dict[str, object]] = [
        {"op": "replace", "path": "/a/0/b", "value": 2},
        {"op": "add", "path": "/a/-", "value": 3},
        {"op": "remove", "path": "/c"},
    ]
    assert edited(whole, operations) == {"a": [{"b": 2}, 3]}
    assert whole == {"a": [{"b": 1}], "c": 1}
    with pytest.raises(LookupError):
        edited(whole, [{"op": "replace", "path": "/x", "value": 1}])


def test_applying_merges_entries_by_name_and_drops_those_the_manager_no_longer_wants() -> None:
    whole = {"checks": [{"name": "theirs", "state": "Ready"}, {"name": "ours", "state": "Pending"}], "kept": 1}
    before = {"checks": [{"name": "ours", "state": "Pending"}]}
    wanted = {"checks": [{"name": "new", "state": "Ready"}]}
    assert applied(whole, wanted, before) == {
        "checks": [{"name": "theirs", "state": "Ready"}, {"name": "new", "state": "Ready"}],
        "kept": 1,
    }
