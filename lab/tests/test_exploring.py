"""The walk through every state: nothing is broken, it is the same each time, and it sees what planning would break."""

import msgspec
import pytest
from modeldeployment.api.scalerconditions import RebalanceReason
from modeldeployment.lab.cli import app
from modeldeployment.lab.exploring import explore, moves, worst
from modeldeployment.lab.exploring.bindings import UID, Bond, ruled
from modeldeployment.lab.exploring.graphs import SHAPES, Graph, graph
from modeldeployment.lab.exploring.moves import DOWN, SAME, UP, passed, settles
from modeldeployment.lab.exploring.promises import Pass, breaches
from modeldeployment.lab.exploring.worlds import FIRST, NOW, POLICIES, Gift, Held, Spent, Taken, World, memory, target
from modeldeployment.scaler.planning import plan
from modeldeployment.scaler.planning.observed import Reading
from modeldeployment.scaler.planning.outcome import Move, Plan
from typer.testing import CliRunner

LATE = World(counts=(3, 2), there=(3, 2), admitted=(2, 2), cohort=Held((2, 2), (3, 2), 2))
RELEASED = World(
    counts=(2, 2),
    there=(2, 2),
    admitted=(2, 2),
    gift=Gift(RebalanceReason.DONOR_RELEASE, "prefill", "decode", attempted=True),
    spent=Spent(("prefill",), (2, 3), 2, 1),
    taken=Taken("decode", 2, (2, 3), cooling=False),
)


def test_nothing_is_broken_in_the_first_fifty_thousand_states() -> None:
    found = explore(50_000)
    assert (found.states, found.broken) == (50_000, ())


def test_the_same_bound_is_the_same_walk() -> None:
    assert explore(3_000) == explore(3_000)


def test_a_walk_comes_by_every_kind_of_write() -> None:
    assert {_made(world, asked).move for world, asked in _passes()} == {None, *Move}


def _passes() -> tuple[tuple[World, tuple[int, int]], ...]:
    aborted = World((2, 2), (2, 3), (2, 3), retiring=(1, 2, True), taken=Taken("decode", 2, (2, 3), cooling=False))
    exhausted = World((2, 3), (2, 3), (2, 3), spent=Spent(("prefill",), (2, 3), 2, 1))
    return (
        (FIRST, (SAME, SAME)),
        (FIRST, (UP, DOWN)),
        (LATE, (SAME, SAME)),
        (aborted, (SAME, SAME)),
        (exhausted, (UP, DOWN)),
        (RELEASED, (UP, DOWN)),
    )


def _made(world: World, asked: tuple[int, int]) -> Plan:
    return _pass(world, asked).plan


def _pass(world: World, asked: tuple[int, int]) -> Pass:
    reading, wishes = moves.read(world, asked, complete=True)
    policy = POLICIES[world.policy]
    made = plan(memory(world, wishes), reading, target(world), policy, now=NOW, decision_id="d-2", term=1)
    return Pass(world, target(world), reading, made)


@pytest.mark.parametrize(
    ("world", "move", "sentence"),
    [
        (LATE, Move.PLANNED, "While a cohort is pending nothing grows."),
        (RELEASED, Move.RECEIVER_ACQUIRE, "Counts change with a decision that names them, or not at all."),
    ],
)
def test_a_plan_that_breaks_a_promise_is_seen(world: World, move: Move, sentence: str) -> None:
    honest = _pass(world, (SAME, SAME))
    wrong = Plan(
        vector={"prefill": world.counts[0] + 1, "decode": 2},
        move=move,
        roles=honest.plan.roles,
        findings=honest.plan.findings,
        memory=memory(world, (3, 2)),
        committed=memory(world, (3, 2)),
        trail=(),
    )
    assert breaches(honest) == ()
    assert sentence in breaches(honest._replace(plan=wrong))


def test_a_shrinkage_that_nobody_saw_is_seen() -> None:
    shrunk = _pass(World((3, 3), (3, 3), (3, 3)), (DOWN, DOWN))
    assert shrunk.plan.move is Move.PLANNED
    assert breaches(shrunk) == ()
    unread = Reading(
        roles={name: msgspec.structs.replace(each, complete=False) for name, each in shrunk.reading.roles.items()}
    )
    assert breaches(shrunk._replace(reading=unread)) == (
        "Nothing shrinks that was not read whole, or that has no ready replica.",
    )


def test_a_world_in_which_a_cohort_waits_comes_to_rest() -> None:
    assert settles(LATE._replace(cohort=Held((2, 2), (3, 2), 0)), set())


def test_a_lost_write_leaves_what_was_remembered_before() -> None:
    written, kept, broken = passed(FIRST, (UP, DOWN))
    assert (written.cohort is not None, kept.cohort, broken) == (True, None, ())


def test_a_binding_of_somebody_else_lets_nothing_be_written() -> None:
    rule = ruled(Bond(owner="other", term=1))
    assert (rule.plans, rule.writes, rule.unbound) == (False, False, False)


def test_ones_own_binding_lets_counts_be_written() -> None:
    rule = ruled(Bond(owner=UID, term=1, known=1))
    assert (rule.plans, rule.writes, rule.unbound) == (True, True, False)


@pytest.mark.parametrize("graph", worst(), ids=lambda graph: graph.name)
def test_the_worst_graphs_known_end_within_the_limit_of_work(graph: Graph) -> None:
    projected = graph.project()
    assert len(projected.vector) == 10
    assert all(box.floor <= projected.vector[role] <= box.ceiling for role, box in graph.boxes.items())


@pytest.mark.parametrize("shape", SHAPES)
def test_graphs_are_such_as_admission_lets_in(shape: str) -> None:
    drawn = graph(shape, 1, 5)
    still = {role: box.current for role, box in drawn.boxes.items()}
    assert all(1 <= count <= 1024 for count in still.values())
    assert drawn == graph(shape, 1, 5)


def test_the_command_says_what_was_walked_through() -> None:
    ran = CliRunner().invoke(app, ["explore", "--states", "500"])
    assert ran.exit_code == 0
    assert ran.stdout.startswith("500 states (breadth first) over ")
