"""Where LocalQueues lead, whether the check is asked for, and which change of a queue is told (decisions D26)."""

import pytest
from modeldeployment.api import kueue
from modeldeployment.kube import shapes
from modeldeployment.reconcile import Queue
from modeldeployment.reconcile.queues import Queues

VERSIONS = iter(range(1, 10_000))


def meta(name: str, namespace: str = "") -> shapes.ObjectMeta:
    """Metadata newer than every other."""
    return shapes.ObjectMeta(name=name, namespace=namespace, uid=name, resource_version=str(next(VERSIONS)))


def cluster_queue(*checks: str, cohort: str = "") -> shapes.ClusterQueue:
    """The ClusterQueue `a10`, which asks for these checks."""
    asked = tuple(shapes.CheckRule(name=each) for each in checks)
    spec = shapes.ClusterQueueSpec(
        cohort_name=cohort, admission_checks_strategy=shapes.ChecksStrategy(admission_checks=asked)
    )
    return shapes.ClusterQueue(metadata=meta("a10"), spec=spec)


def local_queue(leads_to: str = "a10") -> shapes.LocalQueue:
    """The LocalQueue `entrance` of namespace `team`."""
    return shapes.LocalQueue(metadata=meta("entrance", "team"), spec=shapes.LocalQueueSpec(cluster_queue=leads_to))


def check(name: str = kueue.JOINT_CHECK, controller: str = kueue.JOINT_CONTROLLER) -> shapes.AdmissionCheck:
    """An AdmissionCheck that a controller answers."""
    return shapes.AdmissionCheck(metadata=meta(name), spec=shapes.AdmissionCheckSpec(controller_name=controller))


@pytest.fixture
def told() -> list[int]:
    """One entry for each time that something changed."""
    return []


@pytest.fixture
def queues(told: list[int]) -> Queues:
    """Queues that lead from `entrance` to `a10` with the check, nothing told yet."""
    made = Queues(lambda: told.append(1))
    made.checks.put(check())
    made.cluster_queues.put(cluster_queue(kueue.JOINT_CHECK))
    made.local_queues.put(local_queue())
    told.clear()
    return made


def test_a_local_queue_leads_to_its_cluster_queue_and_says_whether_it_asks_for_the_check(queues: Queues) -> None:
    assert queues.queue("team", "entrance") == Queue("a10", checked=True)
    queues.cluster_queues.put(cluster_queue("somebody-elses"))
    assert queues.queue("team", "entrance") == Queue("a10", checked=False)


def test_a_local_queue_that_is_missing_leads_nowhere(queues: Queues) -> None:
    assert queues.queue("team", "other") == Queue("", checked=False)
    assert queues.queue("other", "entrance") == Queue("", checked=False)


def test_a_local_queue_may_lead_to_a_cluster_queue_that_does_not_exist(queues: Queues) -> None:
    queues.local_queues.put(local_queue("typo"))
    assert queues.queue("team", "entrance") == Queue("typo", checked=False, missing=True)


def test_a_check_of_another_name_that_we_answer_holds_a_set_together_too(queues: Queues) -> None:
    queues.checks.put(check("renamed"))
    queues.cluster_queues.put(cluster_queue("renamed"))
    assert queues.queue("team", "entrance").checked
    queues.checks.put(check("renamed", "somebody/else"))
    assert not queues.queue("team", "entrance").checked


def test_what_leads_or_asks_other_than_before_is_told_and_a_repetition_is_not(queues: Queues, told: list[int]) -> None:
    queues.local_queues.put(local_queue())
    queues.cluster_queues.put(cluster_queue(kueue.JOINT_CHECK))
    queues.checks.put(check())
    assert told == []
    queues.local_queues.put(local_queue("h20"))
    queues.cluster_queues.put(cluster_queue())
    queues.cluster_queues.put(cluster_queue(cohort="all"))
    queues.checks.put(check(controller="somebody/else"))
    assert told == [1, 1, 1, 1]
