"""What becomes of a scaler's growth when quota goes before all of it is admitted."""

from model_queued import Queued
from modeldeployment.lab.model import World


def test_quota_that_vanishes_while_growth_is_pending_takes_all_of_it_back_and_stops_nothing_that_ran() -> None:
    with World() as world:
        scene = Queued(world, cards=3, server=2)
        before = scene.running()
        scene.engines.waiting = 48
        scene.scale(behavior={"scaleUp": {"stepPolicy": {"type": "Pods", "value": 2}}})
        scene.settle()
        scene.later()
        assert (scene.counts, scene.waiting()) == ({"server": 4}, ["server/3"])
        assert [*scene.running()] == ["server/0", "server/1", "server/2"]
        scene.quota(1)
        scene.later(270)
        assert scene.vectors == [(2,), (4,)]
        assert scene.condition("Blocked")["reason"] == "PacingBounded"
        assert "not admitted yet" in scene.condition("Blocked")["message"]
        scene.later(30)
        assert scene.counts == {"server": 2}
        assert scene.condition("Blocked")["reason"] == "ResourceExhausted"
        assert (
            "was not admitted within 300 s, and the counts of before are restored"
            in scene.condition("Blocked")["message"]
        )
        assert "pendingCohort" not in scene.status
        scene.later(300)
        assert "its last growth found no quota and was taken back" in scene.condition("Blocked")["message"]
        assert (scene.vectors, scene.running(), scene.waiting()) == ([(2,), (4,), (2,)], before, [])
        scene.quota(4)
        scene.engines.waiting = 32
        scene.later(600)
        assert scene.vectors == [(2,), (4,), (2,), (4,)]
        assert before.items() < scene.running().items()


def test_quota_that_vanishes_under_half_a_set_takes_the_growth_of_both_roles_back() -> None:
    with World() as world:
        scene = Queued(world, cards=3, prefill=1, decode=1)
        before = scene.running()
        scene.engines.waiting = 16
        bounds = [{"name": name, "minReplicas": 1, "maxReplicas": 4} for name in ("prefill", "decode")]
        targets = [{"name": name, "target": "8"} for name in ("prefill", "decode")]
        scene.scale(
            roles=bounds,
            algorithm={"type": "Proportional", "proportional": {"metric": "QueueDepth", "roleTargets": targets}},
        )
        scene.settle()
        scene.later()
        assert (scene.counts, scene.waiting()) == ({"prefill": 2, "decode": 2}, ["decode/1", "prefill/1"])
        scene.quota(1)
        scene.later(600)
        assert scene.vectors == [(1, 1), (2, 2), (1, 1)]
        assert scene.condition("Blocked")["reason"] == "ResourceExhausted"
        assert scene.condition("Blocked")["message"].startswith("roles prefill and decode: ")
        assert (scene.running(), scene.waiting()) == (before, [])
