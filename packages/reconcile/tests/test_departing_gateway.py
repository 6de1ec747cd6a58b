"""What SGLang's gateway remembers of a replica is cleared while that leaves (facts routers-measured §7)."""

from dataclasses import replace
from typing import Any

import pytest
from modeldeployment.reconcile import Snapshot
from modeldeployment.reconcile.deciding.steps import DeletePod, SetEligibility
from reconcile_worlds import decision, deployment, rendering, settled, steps


def going(state: str, *, router: str = "sglang-gateway", size: int = 1, **leader: Any) -> Snapshot:
    """A deployment of two replicas whose second one is retired, in this state; `leader` are fields of its leader."""
    engine = "SGLang" if router == "sglang-gateway" else "vLLM"
    fields: dict[str, Any] = {"router": router, "engine": engine, "size": size}
    before = settled(deployment(replicas=2, **fields))
    narrower = deployment(replicas=1, generation=2, **fields)
    seen = replace(before, deployment=narrower, rendering=rendering(narrower))
    reserved = decision(seen).retirement
    assert reserved is not None
    kept = {**reserved["retirement"], "state": state}  # type: ignore[dict-item]
    members = tuple(
        replace(each, eligible=False, **(leader if each.index == 0 else {"leaving": True})) if each.ordinal else each
        for each in seen.members
    )
    return replace(seen, status={**seen.status, "retirement": kept}, members=members)


def labels(seen: Snapshot) -> list[SetEligibility]:
    return [each for each in steps(seen) if isinstance(each, SetEligibility)]


BACK = [SetEligibility("chat-server-1-0", "uid-chat-server-1-0", eligible=True)]


def test_the_label_comes_back_once_the_pod_is_being_deleted_and_not_before() -> None:
    asked = steps(going("Deleting"))
    assert any(isinstance(each, DeletePod) for each in asked)
    assert labels(going("Deleting")) == []
    assert labels(going("Deleting", leaving=True, ready=False)) == BACK


def test_it_comes_back_once_and_to_the_leader_alone() -> None:
    assert labels(going("Deleting", size=2, leaving=True, ready=False)) == BACK
    seen = going("Deleting", leaving=True, ready=False)
    seen = replace(seen, members=tuple(replace(each, eligible=each.index == 0) for each in seen.members))
    assert labels(seen) == []


def test_it_comes_back_to_one_that_somebody_else_deleted() -> None:
    assert labels(going("Aborted", leaving=True, ready=False)) == BACK


@pytest.mark.parametrize("router", ["vllm-router", "llm-d-router", ""])
def test_no_other_router_needs_it(router: str) -> None:
    assert labels(going("Deleting", router=router, leaving=True, ready=False)) == []
