"""What stands in for a kubelet where the cost of retirements is measured."""

import itertools
from array import array

from modeldeployment.lab.bench import stubbing
from modeldeployment.lab.bench.pretending import PODS, WORKLOADS, Pretence
from modeldeployment.lab.bench.retired import observed
from modeldeployment.lab.bench.shrinking import Departing
from modeldeployment.reconcile import DeploymentController


async def test_a_pod_that_is_deleted_is_told_to_leave_and_goes_later_while_anything_else_goes_at_once() -> None:
    stub = Pretence(itertools.repeat("127.1.2.3"), Departing).stub
    stub.put(PODS, {"metadata": {"name": "p", "namespace": "bench"}})
    stub.put(WORKLOADS, {"metadata": {"name": "w", "namespace": "bench"}})
    for _ in range(2):
        stub.remove(PODS, "bench", "p")
        (pod,) = stub.objects(PODS)
        assert "deletionTimestamp" in pod["metadata"]
    stub.remove(WORKLOADS, "bench", "w")
    assert stub.objects(WORKLOADS) == []


def test_the_controller_that_notes_what_passes_cost_is_the_real_one() -> None:
    assert issubclass(observed(array(stubbing.TYPECODE)), DeploymentController)
