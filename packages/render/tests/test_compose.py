import pytest
from modeldeployment.render import Standing
from modeldeployment.render.compose import Clash, Defaulted, Fragment, FromUser, Placed, assemble, place

MAIN = ("spec", "containers", "main")


def first(context: str) -> Fragment:
    return {("kind",): context, (*MAIN, "env", "A"): Defaulted({"value": "1"}), (*MAIN, "env", "B"): {"value": "2"}}


def second(context: str) -> Fragment:
    return {(*MAIN, "env", "A"): FromUser({"value": context})}


def again(context: str) -> Fragment:
    return {("kind",): FromUser(context)}


def above(context: str) -> Fragment:
    return {MAIN: context}


def test_lists_come_out_in_the_order_of_placing() -> None:
    assert assemble(place((first,), "Pod")) == {
        "kind": "Pod",
        "spec": {"containers": [{"name": "main", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}]},
    }


def test_a_users_value_replaces_a_defaulted_one_where_it_stands() -> None:
    placed = place((first, second), "9")
    assert placed[*MAIN, "env", "A"] == Placed({"value": "9"}, "second", Standing.USER)
    assert list(placed) == [("kind",), (*MAIN, "env", "A"), (*MAIN, "env", "B")]


def test_every_value_remembers_its_part_and_whose_it_is() -> None:
    placed = place((first,), "Pod")
    assert placed["kind",] == Placed("Pod", "first", Standing.OWNED)
    assert placed[*MAIN, "env", "A"].standing is Standing.DEFAULTED


def test_a_second_value_for_an_owned_path_is_a_clash() -> None:
    with pytest.raises(Clash, match=r"^kind is placed by first and by again$"):
        place((first, again), "Pod")


@pytest.mark.parametrize("parts", [(first, above), (above, first)])
def test_a_value_below_or_above_another_is_a_clash(parts: tuple[object, ...]) -> None:
    with pytest.raises(Clash, match="spec/containers/main"):
        assemble(place(parts, "Pod"))  # type: ignore[arg-type]


def test_keys_that_look_like_list_names_stay_keys() -> None:
    def label(context: str) -> Fragment:
        return {("metadata", "labels", "env"): context, ("metadata", "labels", "command"): context}

    assert assemble(place((label,), "x")) == {"metadata": {"labels": {"env": "x", "command": "x"}}}
