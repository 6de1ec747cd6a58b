"""What the operator may write of a deployment that a scaler owns: bindings, and counts with the decision behind them.

These hold against the operator itself: a scaler that lost its binding without noticing cannot write over its successor.

Source: spec 3 §Binding fence, facts api-scaler §4, decisions D35.
"""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.claims import BINDING, DECISION, Claim
from modeldeployment.admission.examples import Example
from modeldeployment.admission.facts import Actor
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import DeploymentReview
from modeldeployment.admission.verdict import Cause, Refusal


def _binding(term: int, uid: str = "8c4e1f0a") -> dict[str, Any]:
    return {BINDING: f'{{"scalerName":"qwen-72b","scalerUID":"{uid}","term":{term}}}'}


def _decision(term: int, server: int, decision: str = "d-2") -> dict[str, Any]:
    return {DECISION: f'{{"decisionID":"{decision}","term":{term},"vector":{{"server":{server}}}}}'}


@row(
    trigger=Example(_binding(2), old=_binding(3), actor=Actor.OPERATOR),
    near_miss=Example(_binding(4), old=_binding(3), actor=Actor.OPERATOR),
    spares_deleting=True,
)
def term_goes_back(review: DeploymentReview) -> Iterator[Refusal]:
    """MD051 | metadata.annotations[modeldeployment.gpustack.ai/scaler-binding] | Terms start at 1 and never go back.

    The term tells a binding from the ones before it, so a writer of an earlier one is known. What the stored binding or
    the stored decision says is the least the next binding may say. A binding the operator writes can be read: it has
    `scalerName`, `scalerUID` and a `term` of 1 or more. Source: spec 3 §Binding fence, decisions D35.
    """
    old, new = Claim.of(review.old), Claim.of(review.new)
    if review.actor is Actor.USER or new.binding_text is None or new.binding_text == old.binding_text:
        return
    if new.binding is None:
        yield Refusal(
            "MD051",
            BINDING,
            new.binding_text,
            why="no scalerName, scalerUID and term of 1 or more can be read from it",
            way_out="write all three as a JSON object",
        )
    elif new.binding.term < old.term:
        yield Refusal(
            "MD051",
            BINDING,
            new.binding_text,
            why=f"term {new.binding.term} is behind the stored term {old.term}, and terms never go back",
            way_out=f"read the deployment again and bind it under term {old.term} or a later one",
        )


@row(
    trigger=Example(_binding(3, "0d9b2a77"), old=_binding(3), actor=Actor.OPERATOR),
    near_miss=Example(_binding(1, "0d9b2a77"), old={}, actor=Actor.OPERATOR),
    spares_deleting=True,
)
def takeover(review: DeploymentReview) -> Iterator[Refusal]:
    """MD054 | metadata.annotations[modeldeployment.gpustack.ai/scaler-binding] | A binding is released first.

    It passes to no other scaler. A second one reports `AlreadyBound` and leaves the owner in place. Another UID under
    the same name is a second scaler too. Source: spec 3 §Binding fence.
    """
    old, new = Claim.of(review.old).binding, Claim.of(review.new).binding
    if review.actor is Actor.USER or old is None or new is None or old.scaler_uid == new.scaler_uid:
        return
    yield Refusal(
        "MD054",
        BINDING,
        Claim.of(review.new).binding_text,
        why=f"the scaler {old.scaler_name} ({old.scaler_uid}) owns this deployment, and {new.scaler_name} "
        f"({new.scaler_uid}) cannot take it over",
        way_out="report AlreadyBound and wait until the binding is released",
        cause=Cause.FORBIDDEN,
    )


@row(
    trigger=Example(
        _binding(3) | _decision(3, server=6) | {"spec.roles[0].replicas": 5}, old=_binding(3), actor=Actor.OPERATOR
    ),
    near_miss=Example(
        _binding(3) | _decision(3, server=5) | {"spec.roles[0].replicas": 5}, old=_binding(3), actor=Actor.OPERATOR
    ),
    spares_deleting=True,
)
def commit_without_its_decision(review: DeploymentReview) -> Iterator[Refusal]:
    """MD052 | metadata.annotations[modeldeployment.gpustack.ai/scaler-decision] | Counts come with a decision.

    On a bound deployment one write carries both: the counts, and a decision under the term of the binding whose vector
    names every role with exactly that count. So whoever reads the object knows which decision its counts are, and a
    commit planned under another binding does not get in. Source: spec 3 §Binding fence, decisions D35.
    """
    if review.actor is Actor.USER:
        return
    old, new = Claim.of(review.old), Claim.of(review.new)
    decided = new.decision_text is not None and new.decision_text != old.decision_text
    moved = any(role.old is not None and role.old.replicas != role.role.replicas for role in review.roles)
    claimed = old.binding is not None or new.binding is not None
    if decided:
        fault = _fault(review, old, new)
    elif moved and claimed:
        fault = "this write changes replica counts of a bound deployment without the decision they come from"
    else:
        return
    if fault:
        yield Refusal(
            "MD052",
            DECISION,
            new.decision_text,
            why=fault,
            cause=Cause.REQUIRED if new.decision_text is None else Cause.INVALID,
            way_out="read the deployment again, and write counts and decision in one request under the term of the "
            "binding",
        )


def _fault(review: DeploymentReview, old: Claim, new: Claim) -> str:
    """What is wrong with a decision that is being written; empty where it is in order."""
    decision, binding = new.decision, new.binding
    if decision is None:
        return "no decisionID, term of 1 or more and vector of counts can be read from it"
    if binding is None:
        # A binding that this very write spoils is another row's to tell.
        spoilt = new.binding_text is not None and new.binding_text != old.binding_text
        return "" if spoilt else "there is no binding under which anything could be decided"
    if decision.term != binding.term:
        return f"it was decided under term {decision.term}, and the binding is of term {binding.term}"
    counts = {role.role.name: role.role.replicas for role in review.roles}
    wrong = [name for name in {**counts, **decision.vector} if counts.get(name) != decision.vector.get(name)]
    if wrong:
        told = (f"{name} {decision.vector.get(name, 'none')} for {counts.get(name, 'no such role')}" for name in wrong)
        return f"its vector is not what is written: {', '.join(told)}"
    return ""


RULES: Final[tuple[Row[Any, Any], ...]] = (term_goes_back, takeover, commit_without_its_decision)
