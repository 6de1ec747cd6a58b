"""Who gives capacity and who takes it.

Source: spec 3 §Resource rebalancing, facts api-scaler §2 (rebalance).
"""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission import patching
from modeldeployment.admission.examples import Example
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import ScalerReview
from modeldeployment.admission.verdict import Cause, Refusal

_FIELD: Final = "spec.rebalance.priority"


@row(
    trigger=Example({"spec.rebalance": {"policy": "Priority", "priority": ["server", "server"]}}, scaler=True),
    near_miss=Example({"spec.rebalance": {"policy": "Priority", "priority": ["server"]}}, scaler=True),
)
def listed_twice(review: ScalerReview) -> Iterator[Refusal]:
    """MD150 | spec.rebalance.priority[*] | A role has one place in the order of priority.

    The order decides which role gives to which, so a second place would say two things. It is judged whatever the
    policy is, although only `Priority` reads it. Source: spec 3 §Resource rebalancing.
    """
    priority = review.new.spec.rebalance.priority
    for index, name in enumerate(priority):
        first = priority.index(name)
        if first != index:
            yield Refusal(
                "MD150",
                f"{_FIELD}[{index}]",
                name,
                why=f"the role {name} already stands at {_FIELD}[{first}]",
                way_out="list each role once, highest priority first",
                cause=Cause.DUPLICATE,
                patch=(patching.put(_FIELD, list(dict.fromkeys(priority))),),
            )


@row(
    trigger=Example({"spec.rebalance": {"policy": "Priority", "priority": ["server", "decode"]}}, scaler=True),
    near_miss=Example({"spec.rebalance": {"policy": "Priority", "priority": []}}, scaler=True),
)
def not_scaled(review: ScalerReview) -> Iterator[Refusal]:
    """MD151 | spec.rebalance.priority[*] | Only scaled roles have a priority.

    A role without bounds in `spec.roles` neither gives nor takes; a name that is not among them is most often
    misspelled. Source: spec 3 §Resource rebalancing.
    """
    for index, name in enumerate(review.new.spec.rebalance.priority):
        if name not in review.scaled:
            yield Refusal(
                "MD151",
                f"{_FIELD}[{index}]",
                name,
                why=f"{name} is not among the scaled roles: {', '.join(review.scaled)}",
                way_out="name a role of spec.roles, or take the entry out: a role that is not listed neither gives nor "
                "takes",
                cause=Cause.NOT_FOUND,
            )


RULES: Final[tuple[Row[Any, Any], ...]] = (listed_twice, not_scaled)
