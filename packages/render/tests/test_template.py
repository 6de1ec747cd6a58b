import json
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modeldeployment.render import RoleRendering, Seat, Template, render
from modeldeployment.render.holes import Hole
from modeldeployment.render.template import Occupants
from render_worlds import deployment, facts, instance_type, main, one_role, rendered, role

FINGERPRINT = "modeldeployment.gpustack.ai/pod-spec-hash"
ELIGIBLE = "modeldeployment.gpustack.ai/endpoint-eligible"
GROUP = "kueue.x-k8s.io/pod-group-name"

HOSTILE = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    [
        '"',
        "\\",
        '","',
        "\0",
        "\u2028",
        "{ordinal}",
        "%s",
        "${GROUP}",
        "Hole.GROUP",
        "</script>",
        "\n'",
        "🙂",
        "<hole>",
        "<hole><hole><hole>",
        "qwen-server-r0-m0",
    ]
)


def test_seats_of_one_template_never_share_a_fingerprint_nor_ordinals_a_group() -> None:
    only = one_role(size=8, replicas=64)
    seats = list(only.seats())
    assert len({only.template.fingerprint(seat) for seat in seats}) == len(seats) == 512
    assert len({only.template.group(ordinal) for ordinal in range(64)}) == 64


@settings(deadline=None)
@given(
    names=st.lists(st.from_regex(r"\A[a-z]([a-z0-9-]{0,8}[a-z0-9])?\Z"), min_size=2, max_size=3, unique=True),
    size=st.integers(1, 3),
    replicas=st.integers(1, 4),
)
def test_seats_of_several_roles_never_share_a_fingerprint_or_a_group(
    names: list[str], size: int, replicas: int
) -> None:
    roles = render(deployment(*(role(name, size=size, replicas=replicas) for name in names)), facts()).roles
    fingerprints = [only.template.fingerprint(seat) for only in roles for seat in only.seats()]
    assert len(set(fingerprints)) == len(fingerprints)
    groups = [only.template.group(ordinal) for only in roles for ordinal in range(replicas)]
    assert len(set(groups)) == len(groups)


@settings(deadline=None)
@given(
    arguments=st.lists(HOSTILE, max_size=4),
    value=HOSTILE,
    image=HOSTILE,
    ordinal=st.integers(0, 2000),
    member=st.integers(0, 1),
)
def test_hostile_texts_come_out_as_they_went_in(
    arguments: list[str], value: str, image: str, ordinal: int, member: int
) -> None:
    fields: dict[str, Any] = {
        "command": ["run", *arguments],
        "env": [{"name": "A", "value": value}],
        "image": f"i{image}",
    }
    template = one_role(size=2, **fields).template
    body = template.body(Seat(ordinal, member))
    assert body.isascii()
    container = main(json.loads(body))
    assert container["command"] == ["run", *arguments]
    assert container["env"][0] == {"name": "A", "value": value}
    assert container["image"] == f"i{image}"
    assert json.loads(body)["metadata"]["name"] == f"qwen-server-r{ordinal}-m{member}"


@pytest.mark.parametrize("value", ["<hole>", "<hole><hole>", "<hole>" * 5000])
def test_a_value_that_looks_like_a_hole_is_none(value: str) -> None:
    pod = one_role(size=2, env=[{"name": "A", "value": value}]).template.pod(Seat(3, 1))
    assert main(pod)["env"][0] == {"name": "A", "value": value}
    assert pod["metadata"]["name"] == "qwen-server-r3-m1"


@pytest.mark.parametrize("size", [1, 2])
def test_a_body_is_its_pod_and_carries_its_own_fingerprint_and_group(size: int) -> None:
    only = one_role(size=size, replicas=2)
    for seat in only.seats():
        pod = only.template.pod(seat)
        assert json.loads(only.template.body(seat)) == pod
        assert pod["metadata"]["annotations"][FINGERPRINT] == only.template.fingerprint(seat)
        assert len(only.template.fingerprint(seat)) == 64
        assert pod["metadata"]["labels"][GROUP] == only.template.group(seat.ordinal)


def test_two_renders_of_one_input_are_equal_to_the_byte() -> None:
    fields: dict[str, Any] = {
        "size": 2,
        "replicas": 3,
        "env": [{"name": "A", "value": "1"}],
        "resources": {"accelerator": 2},
    }
    first, second = rendered(**fields), rendered(**fields)
    assert json.dumps(first.services) == json.dumps(second.services)
    assert first.roles[0].template == second.roles[0].template
    for seat in first.roles[0].seats():
        assert first.roles[0].template.body(seat) == second.roles[0].template.body(seat)


BASE: dict[str, Any] = {"size": 2, "replicas": 2, "resources": {"accelerator": 1}}


@pytest.mark.parametrize(
    "edit",
    [
        {"image": "other:1"},
        {"extraArgs": ["--max-model-len=1"]},
        {"env": [{"name": "A", "value": "1"}]},
        {"ports": [{"port": 9000}]},
        {"additionalVolumes": [{"mountPath": "/m", "secret": {"name": "s"}}]},
        {"terminationGracePeriodSeconds": 45},
        {"topology": {"requiredLevel": "topology.kubernetes.io/zone"}},
        {"imagePullPolicy": "Always"},
        {"privileged": True},
    ],
    ids=lambda edit: next(iter(edit)),
)
def test_an_edit_of_what_a_pod_renders_moves_every_fingerprint(edit: dict[str, Any]) -> None:
    before, after = one_role(**BASE), one_role(**BASE | edit)
    assert before.template.digest != after.template.digest
    for seat in before.seats():
        assert before.template.fingerprint(seat) != after.template.fingerprint(seat)


def test_a_change_of_replicas_moves_no_fingerprint() -> None:
    few, many = one_role(**BASE), one_role(**BASE | {"replicas": 9})
    assert [few.template.fingerprint(seat) for seat in few.seats()] == [
        many.template.fingerprint(seat) for seat in few.seats()
    ]


def test_a_new_owner_uid_and_the_eligibility_label_are_outside_the_fingerprint() -> None:
    first = deployment(role(size=2))
    second = first.model_copy(update={"metadata": first.metadata.model_copy(update={"uid": "another"})})
    templates = [render(each, facts()).roles[0].template for each in (first, second)]
    assert templates[0].digest == templates[1].digest
    assert templates[0].body(Seat(0, 0)) != templates[1].body(Seat(0, 0))
    bodies = [templates[0].pod(Seat(0, member))["metadata"]["labels"] for member in (0, 1)]
    assert [ELIGIBLE in labels for labels in bodies] == [True, False]


def test_an_ordinal_beyond_the_declared_ones_has_a_fingerprint_and_a_member_beyond_them_has_none() -> None:
    template = one_role(size=2, replicas=1).template
    assert len(template.fingerprint(Seat(5000, 1))) == 64
    for nowhere in (Seat(0, 2), Seat(0, -1), Seat(-1, 0)):
        with pytest.raises(IndexError, match="no seat of a role of size 2"):
            template.body(nowhere)


def test_whether_a_member_answers_is_outside_the_fingerprint() -> None:
    pod = {"metadata": {"labels": {"a": "1", "e": Hole.ELIGIBLE}, "annotations": {}}, "spec": {}}
    answering, silent = (
        Template.of(pod, Occupants("team-a", "qwen", "server", 1, answers=answers)) for answers in (True, False)
    )
    assert answering.digest == silent.digest
    assert answering.body(Seat(0, 0)) != silent.body(Seat(0, 0))


def test_the_order_in_which_values_were_placed_is_outside_the_fingerprint() -> None:
    labels = {"a": "1", "o": Hole.ORDINAL, "e": Hole.ELIGIBLE}
    pods = [
        {"metadata": {"labels": labels, "annotations": {}, "uid": uid}, "spec": spec}
        for uid, spec in (("1", {"x": 1, "y": [1, 2]}), ("2", {"y": [1, 2], "x": 1}), ("3", {"y": [2, 1], "x": 1}))
    ]
    occupants = Occupants("team-a", "qwen", "server", 1, answers=True)
    first, reordered, changed = (Template.of(pod, occupants).digest for pod in pods)
    assert first == reordered
    assert first != changed


def test_a_hole_is_not_the_text_it_holds_at_the_first_seat() -> None:
    occupants = Occupants("team-a", "qwen", "server", 1, answers=True)
    held, written = (
        Template.of({"metadata": {"labels": {"a": "1", "o": value}, "annotations": {}}, "spec": {}}, occupants)
        for value in (Hole.ORDINAL, "0")
    )
    assert held.body(Seat(0, 0)) == written.body(Seat(0, 0))
    assert held.digest != written.digest


def test_a_name_that_needs_escaping_is_never_pasted() -> None:
    odd = deployment(role(size=2))
    named = odd.model_copy(update={"metadata": odd.metadata.model_copy(update={"name": 'a"b'})})
    with pytest.raises(ValueError, match="not plain text"):
        render(named, facts())


def seat_texts(only: RoleRendering) -> set[bytes]:
    return {only.template.body(seat) for seat in only.seats()}


@pytest.mark.parametrize(("engine", "size"), list(product(["vLLM", "SGLang"], [1, 2])))
def test_every_seat_has_a_body_of_its_own(engine: str, size: int) -> None:
    known = facts(instance_type(status={"manufacturer": "ascend"}))
    only = render(deployment(role(size=size, replicas=3), engine=engine), known).roles[0]
    assert len(seat_texts(only)) == 3 * size
