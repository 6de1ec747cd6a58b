"""Many passes over an imagined deployment: what never happens, and how calm and how quick counts are."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modeldeployment.api import Quantity, RetirementState
from modeldeployment.api.scaler import RebalancePolicy, StepPolicy, StepType
from modeldeployment.scaler.planning import ratios
from modeldeployment.scaler.planning.outcome import Move
from modeldeployment.scaler.planning.policy import Algorithm, Band, Policy
from planning_passes import paced
from planning_worlds import band, policy, token
from scaler_imagined import Imagined

ROLES = ("prefill", "decode", "encode")
FATES = st.sampled_from([RetirementState.COMPLETED, RetirementState.DRAINING, RetirementState.ABORTED])
STEPS = st.none() | st.builds(StepPolicy, type=st.sampled_from(StepType), value=st.sampled_from([0, 1, 2, 50]))


@st.composite
def policies(draw: st.DrawFn, generation: int = 1) -> Policy:
    """Bounds, bands around the counts that a play begins with, steps, and a rebalance."""
    bands = [
        Band(
            numerator=one,
            denominator=other,
            target=Quantity.parse("1") if draw(st.booleans()) else None,
            low=draw(st.none() | st.sampled_from(["0.25", "0.5", "1"]).map(Quantity.parse)),
            high=draw(st.none() | st.sampled_from(["1", "2", "3"]).map(Quantity.parse)),
        )
        for one, other in draw(
            st.sampled_from([[], [("prefill", "decode")], [("prefill", "decode"), ("encode", "prefill")]])
        )
    ]
    return paced(
        {name: (draw(st.integers(1, 2)), draw(st.integers(2, 9))) for name in ROLES},
        bands=tuple(bands),
        generation=generation,
        pending=60,
        up_window=draw(st.sampled_from([0, 30])),
        up_step=draw(STEPS),
        down_window=draw(st.sampled_from([15, 60])),
        down_step=draw(STEPS),
        cooldown=60,
        grace=30,
        rebalance=draw(st.sampled_from(RebalancePolicy)),
        priority=draw(st.permutations(ROLES).map(lambda order: tuple(order[:2]))),
    )


LOADS = st.fixed_dictionaries({name: st.sampled_from([0.0, 0.6, 1.0, 2.0, 3.7, 6.0, 12.0]) for name in ROLES})


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_happens_every_vector_keeps_the_policy_and_every_move_its_rules(data: st.DataObject) -> None:
    world = Imagined(data.draw(policies()), dict.fromkeys(ROLES, 2), quota=data.draw(st.integers(4, 14)))
    load = data.draw(LOADS)
    for _ in range(data.draw(st.integers(4, 25))):
        match data.draw(st.sampled_from(["on", "on", "on", "on", "load", "counts", "image", "quota", "spec"])):
            case "load":
                load = data.draw(LOADS)
            case "counts":
                world.edited(**{data.draw(st.sampled_from(ROLES)): data.draw(st.integers(1, 6))})
            case "image":
                world.edited()
            case "quota":
                world.quota = data.draw(st.integers(4, 20))
            case "spec":
                world.respecified(data.draw(policies(generation=world.policy.generation + 1)))
            case _:
                world.goes_on(data.draw(st.sampled_from([15, 15, 45])), fate=data.draw(FATES))
        complete = data.draw(st.sampled_from([True, True, True, False]))
        world.passes(load, complete=complete, written=data.draw(st.sampled_from([True, True, True, False])))


@settings(max_examples=30, deadline=None)
@given(policies(), LOADS, st.integers(6, 12), st.lists(FATES, min_size=40, max_size=40))
def test_undisturbed_every_cohort_is_admitted_or_taken_back_whole(
    by: Policy, load: dict[str, float], quota: int, fates: list[RetirementState]
) -> None:
    world = Imagined(by, dict.fromkeys(ROLES, 2), quota=quota)
    if not ratios.allows(by, world.counts):
        return
    for fate in fates:
        cohort, before = world.memory.cohort, dict(world.counts)
        made = world.passes(load)
        if cohort is not None and made.move is Move.ROLLBACK:
            assert made.vector == cohort.baseline
        elif cohort is not None and made.memory.cohort is None:
            assert all(
                world.replicas[role][ordinal].admitted
                for role, count in cohort.target.items()
                for ordinal in range(cohort.baseline[role], count)
            )
        assert all(count >= 1 for count in before.values())
        world.goes_on(fate=fate)


TOKENS = token()
PAIR = {"prefill": (1, 32), "decode": (1, 32)}


def _world(algorithm: Algorithm | None, start: int, bands: tuple[Band, ...] = ()) -> Imagined:
    by = paced(PAIR, bands=bands) if algorithm is None else policy(algorithm, bounds=PAIR, bands=bands)
    return Imagined(by, {"prefill": start, "decode": start}, thorough=False)


def _play(world: Imagined, passes: int, load: float, noise: random.Random | None = None) -> int:
    """How many writes there were."""
    before = len(world.writes)
    for _ in range(passes):
        now = load if noise is None else load * noise.uniform(0.9, 1.1)
        world.passes({"prefill": now, "decode": now})
        world.goes_on(15)
    return len(world.writes) - before


@pytest.mark.parametrize("algorithm", [None, TOKENS], ids=["Proportional", "TokenThroughput"])
def test_idle_at_the_minimum_nothing_changes(algorithm: Algorithm | None) -> None:
    assert _play(_world(algorithm, 1), 240, 0.0) == 0


@pytest.mark.parametrize("algorithm", [None, TOKENS], ids=["Proportional", "TokenThroughput"])
def test_a_constant_load_changes_counts_once(algorithm: Algorithm | None) -> None:
    world = _world(algorithm, 2, (band("prefill", "decode", low="0.5", target=1, high=2),))
    assert _play(world, 240, 4.6) == 1
    assert world.counts == {"prefill": 5, "decode": 5}


@pytest.mark.parametrize("algorithm", [None, TOKENS], ids=["Proportional", "TokenThroughput"])
def test_ten_percent_of_noise_over_a_day_changes_nothing_once_settled(algorithm: Algorithm | None) -> None:
    # a mean that lies further from a whole number of replicas than noise carries it; on one, token rates go to and fro
    world, noise = _world(algorithm, 5), random.Random(7)
    _play(world, 240, 7.4, noise)
    assert _play(world, 24 * 240, 7.4, noise) == 0


@pytest.mark.parametrize("algorithm", [None, TOKENS], ids=["Proportional", "TokenThroughput"])
def test_four_times_the_load_is_answered_within_one_interval(algorithm: Algorithm | None) -> None:
    world = _world(algorithm, 3)
    _play(world, 40, 2.6)
    jumped = world.now
    _play(world, 1, 10.4)
    assert [at for at, _, _ in world.writes] == [jumped]
    assert world.counts["prefill"] > 3


def test_load_that_falls_away_leaves_the_minimum_in_the_end() -> None:
    world = _world(None, 6)
    _play(world, 400, 0.0)
    assert world.counts == {"prefill": 1, "decode": 1}


def test_without_quota_growth_is_tried_ever_less_often() -> None:
    world = _world(None, 2)
    world.quota = 4
    _play(world, 480, 6.0)
    tries = [at for at, move, _ in world.writes if move is Move.PLANNED]
    waits = [(later - earlier).total_seconds() for earlier, later in itertools.pairwise(tries)]
    assert waits == [915.0, 1515.0, 2115.0, 2115.0]
    assert world.counts in ({"prefill": 2, "decode": 2}, {"prefill": 6, "decode": 6})


def test_an_opposing_donor_gives_what_the_receiver_could_not_get() -> None:
    world = _world(None, 4)
    world.quota = 8
    for _ in range(120):
        world.passes({"prefill": 6.0, "decode": 1.0})
        world.goes_on(15)
    assert {Move.ROLLBACK, Move.PLANNED} <= {move for _, move, _ in world.writes}
    assert world.counts["prefill"] > 4
