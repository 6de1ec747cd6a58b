"""What the benchmarks of planning plan from, and that they are what they claim to be."""

from modeldeployment.lab.bench import plans
from modeldeployment.lab.bench.goals import PLAN_THREE, PLAN_WORST


def test_three_roles_have_all_the_history_there_can_be_and_are_planned_for() -> None:
    question = plans.three_roles()
    assert {len(each.recommended) for each in question.memory.roles.values()} == {256}
    assert {len(each.demanded) for each in question.memory.roles.values()} == {256}
    made = question.plan()
    assert [role.name for role in made.roles] == ["encode", "prefill", "decode"]
    assert made.vector["decode"] == 9


def test_ten_roles_are_the_same_for_the_same_number_and_each_wants_to_go_elsewhere() -> None:
    question = plans.ten_roles(3)
    assert question == plans.ten_roles(3) != plans.ten_roles(4)
    made = question.plan()
    assert len(made.roles) == 10
    assert len({role.raw for role in made.roles}) > 5


def test_both_values_are_measured() -> None:
    values = plans.measure(questions=2)
    assert [value.measurement for value in values] == [PLAN_THREE, PLAN_WORST]
    assert all(value.value > 0 for value in values)
