"""What an edit does to Pods, foreseen from two renderings."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modeldeployment.api.conditions import RefusalReason
from modeldeployment.render import Rendering, RenderRefusal, RouterRendering, Seat, attributing, differing, render
from modeldeployment.render.differing import Objects, Outcome
from render_worlds import deployment, facts, role


def rendered(*roles: dict[str, Any], **spec: Any) -> Rendering:
    return render(deployment(*roles, spec=spec), facts())


def seats(*places: tuple[int, int]) -> tuple[Seat, ...]:
    return tuple(Seat(ordinal, member) for ordinal, member in places)


def test_two_equal_renderings_do_nothing() -> None:
    seen = differing.foresee(rendered(role(replicas=2)), rendered(role(replicas=2)))
    (server,) = seen.roles
    assert (server.outcome, server.kept, server.values) == (Outcome.NOTHING, seats((0, 0), (1, 0)), ())
    assert seen.nothing
    assert seen.router is None


def test_more_replicas_come_and_none_that_stays_is_touched() -> None:
    (server,) = differing.foresee(rendered(role(replicas=2)), rendered(role(replicas=3))).roles
    assert (server.outcome, server.replicas) == (Outcome.SCALE, (2, 3))
    assert (server.kept, server.created) == (seats((0, 0), (1, 0)), seats((2, 0)))
    assert (server.deleted, server.replaced) == ((), ())


def test_fewer_replicas_go_from_the_highest_with_their_headless_services() -> None:
    seen = differing.foresee(rendered(role(replicas=3, size=2)), rendered(role(replicas=2, size=2)))
    (server,) = seen.roles
    assert (server.outcome, server.replicas) == (Outcome.SCALE, (3, 2))
    assert (server.deleted, server.replaced) == (seats((2, 0), (2, 1)), ())
    assert seen.services == Objects(deleted=("Service/qwen-server-r2",))
    assert not seen.nothing


def test_another_image_replaces_every_pod_and_says_which_value_differs() -> None:
    (server,) = differing.foresee(rendered(role(size=2)), rendered(role(size=2, image="other:1"))).roles
    assert (server.outcome, server.replaced) == (Outcome.ROLLS, seats((0, 0), (0, 1)))
    (value,) = server.values
    assert value.path == ("spec", "containers", "main", "image")
    assert value.old is not None
    assert value.new is not None
    assert (value.old.value, value.new.value) == ("vllm/vllm-openai:v0.25.1", "other:1")


def test_a_role_that_scales_and_changes_rolls_what_stays() -> None:
    (server,) = differing.foresee(rendered(role(replicas=2)), rendered(role(replicas=3, image="other:1"))).roles
    assert (server.outcome, server.replaced, server.created) == (Outcome.ROLLS, seats((0, 0), (1, 0)), seats((2, 0)))


def test_only_the_edited_role_turns_over() -> None:
    old, new = (rendered(role("a"), role("b", env=[{"name": "X", "value": x}])) for x in "12")
    a, b = differing.foresee(old, new).roles
    assert (a.outcome, b.outcome) == (Outcome.NOTHING, Outcome.ROLLS)


def test_a_port_changes_the_services_in_place() -> None:
    seen = differing.foresee(rendered(role()), rendered(role(ports=[{"port": 9000}])))
    assert seen.services.changed == ("Service/qwen", "Service/qwen-server")


def test_a_default_that_the_user_writes_out_is_no_difference() -> None:
    seen = differing.foresee(rendered(role()), rendered(role(terminationGracePeriodSeconds=30)))
    assert (seen.nothing, seen.roles[0].values) == (True, ())


def test_what_is_not_in_a_pod_turns_nothing_over() -> None:
    seen = differing.foresee(rendered(role()), rendered(role(privileged=False, imagePullSecrets=[])))
    assert seen.nothing


def router(template: dict[str, Any], replicas: int = 1, *more: dict[str, Any]) -> RouterRendering:
    workload = {"kind": "Deployment", "metadata": {"name": "r"}, "spec": {"replicas": replicas, "template": template}}
    return RouterRendering((*more, workload), "http://r", None, ())  # type: ignore[arg-type]


def foreseen(old: Any, new: Any) -> differing.RouterForeseen:
    plain = rendered(role())
    sides = (Rendering(plain.roles, plain.services, plain.endpoint, plain.notices, each) for each in (old, new))
    seen = differing.foresee(*sides).router
    assert seen is not None
    return seen


CONFIG = {"kind": "ConfigMap", "metadata": {"name": "r"}, "data": {"a": "1"}}


def test_a_router_that_comes_or_goes_brings_or_takes_its_objects() -> None:
    assert foreseen(None, router({}, 2, CONFIG)).objects == Objects(created=("ConfigMap/r", "Deployment/r"))
    gone = foreseen(router({}, 2, CONFIG), None)
    assert (gone.objects.deleted, gone.replicas) == (("ConfigMap/r", "Deployment/r"), (2, 0))
    assert not gone.restarts


def test_routers_restart_when_their_template_changes_and_at_no_other_time() -> None:
    assert foreseen(router({"hash": "1"}), router({"hash": "2"})).restarts
    scaled = foreseen(router({"hash": "1"}), router({"hash": "1"}, 3))
    assert (scaled.restarts, scaled.replicas, scaled.objects.changed) == (False, (1, 3), ("Deployment/r",))


def test_a_refused_router_is_said_and_nothing_is_told_of_its_objects() -> None:
    refusal = RenderRefusal(RefusalReason.ROUTER_PORTS_DIFFER, None, "they differ")
    seen = foreseen(router({}, 2), refusal)
    assert (seen.refused, seen.objects, seen.replicas) == (refusal, Objects(), (2, 2))


@st.composite
def fields(draw: st.DrawFn) -> dict[str, Any]:
    """Some fields of a role."""
    possible: dict[str, st.SearchStrategy[Any]] = {
        "replicas": st.integers(1, 4),
        "size": st.integers(1, 3),
        "image": st.sampled_from(["one:1", "two:2"]),
        "extraArgs": st.sampled_from([[], ["--max-model-len=1"], ["--port=9000"]]),
        "env": st.sampled_from([[], [{"name": "A", "value": "1"}], [{"name": "A", "value": "2"}]]),
        "terminationGracePeriodSeconds": st.sampled_from([None, 30, 60]),
        "ports": st.sampled_from([[], [{"port": 9000}]]),
    }
    return draw(st.fixed_dictionaries({}, optional=possible))


@given(fields(), fields())
@settings(deadline=None, max_examples=80)
def test_every_seat_has_one_fate_and_a_kept_one_keeps_its_fingerprint(old: dict[str, Any], new: dict[str, Any]) -> None:
    before, after = rendered(role(**old)), rendered(role(**new))
    (seen,) = differing.foresee(before, after).roles
    fates = [*seen.kept, *seen.created, *seen.deleted, *seen.replaced]
    there, wanted = (set(side.roles[0].seats()) for side in (before, after))
    assert sorted(fates) == sorted(there | wanted)
    assert {*seen.kept, *seen.replaced} == there & wanted
    same = [seat for seat in there & wanted if _print(before, seat) == _print(after, seat)]
    if before.roles[0].size == after.roles[0].size:
        assert sorted(seen.kept) == sorted(same)
    assert seen.kept == () or seen.replaced == ()


@given(fields(), fields())
@settings(deadline=None, max_examples=40)
def test_an_edit_and_its_undoing_mirror_each_other(old: dict[str, Any], new: dict[str, Any]) -> None:
    before, after = rendered(role(**old)), rendered(role(**new))
    (there,), (back,) = differing.foresee(before, after).roles, differing.foresee(after, before).roles
    assert (there.created, there.deleted, set(there.replaced)) == (back.deleted, back.created, set(back.replaced))


@given(fields(), fields())
@settings(deadline=None, max_examples=40)
def test_a_role_that_rolls_has_a_field_behind_it_that_differs(old: dict[str, Any], new: dict[str, Any]) -> None:
    before, after = deployment(role(**old)), deployment(role(**new))
    found = attributing.behind(before, after, facts())
    (seen,) = differing.foresee(render(before, facts()), render(after, facts())).roles
    assert bool(seen.replaced) == bool(found.roles)
    assert set(found.roles.get("server", ())) <= set(attributing.fields(before, after))


def _print(side: Rendering, seat: Seat) -> str:
    return side.roles[0].template.fingerprint(seat)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param({}, {"image": "x:1"}, ["spec.roles[server].image"], id="image"),
        pytest.param({}, {"image": "x:1", "replicas": 3}, ["spec.roles[server].image"], id="a-count-is-not-behind"),
        pytest.param(
            {"env": [{"name": "A", "value": "1"}]},
            {"env": [{"name": "A", "value": "2"}], "privileged": True},
            ["spec.roles[server].privileged", "spec.roles[server].env"],
            id="two-fields",
        ),
        pytest.param({}, {"resources": {"accelerator": 2}}, ["spec.roles[server].resources"], id="a-new-block"),
        pytest.param(
            {"resources": {"accelerator": 1}},
            {"resources": {"accelerator": 2}},
            ["spec.roles[server].resources.accelerator"],
            id="a-leaf-of-a-block",
        ),
    ],
)
def test_the_fields_behind_a_change_are_those_that_change_the_pod_alone(
    old: dict[str, Any], new: dict[str, Any], expected: list[str]
) -> None:
    found = attributing.behind(deployment(role(**old)), deployment(role(**new)), facts())
    assert sorted(found.roles["server"]) == sorted(expected)
    assert found.router == ()


def test_a_field_that_another_one_hides_is_not_behind_the_change() -> None:
    old, new = (deployment(role(image=image), image=engine) for image, engine in (("a:1", "b:1"), ("c:1", "d:1")))
    assert attributing.behind(old, new, facts()).roles == {"server": ("spec.roles[server].image",)}


def test_a_field_that_another_one_hid_or_hides_counts_when_it_acts_alone_on_either_side() -> None:
    hiding, bare = (deployment(role(image=image), image=engine) for image, engine in (("a:1", "b:1"), (None, "d:1")))
    both = ("spec.engine.image", "spec.roles[server].image")
    assert attributing.behind(hiding, bare, facts()).roles == {"server": both}
    assert attributing.behind(bare, hiding, facts()).roles == {"server": both}


def test_where_no_field_can_be_tried_alone_all_that_differ_are_told() -> None:
    found = attributing.behind(deployment(role("a")), deployment(role("b")), facts())
    both = ("spec.roles[a]", "spec.roles[b]")
    assert found.roles == {"a": both, "b": both}


def test_a_field_of_the_deployment_stands_behind_every_role_it_changes() -> None:
    old, new = (deployment(role("a", image=None), role("b"), image=image) for image in ("x:1", "x:2"))
    assert attributing.behind(old, new, facts()).roles == {"a": ("spec.engine.image",)}


def test_an_edit_that_changes_no_pod_has_nothing_behind_it() -> None:
    old, new = deployment(role(replicas=1)), deployment(role(replicas=3))
    assert attributing.behind(old, new, facts()).roles == {}
    assert attributing.fields(old, new) == ("spec.roles[server].replicas",)
