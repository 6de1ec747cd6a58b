"""What a user may write of a deployment that a scaler owns; what the operator may is `commits`.

While the stored object carries a binding that can be read, its counts belong to that scaler. One that cannot be read
leaves the deployment unclaimed. Both annotations are the operator's; a user only takes an orphaned or unreadable
binding away. An object that is being deleted is not judged.

Source: spec 3 §Binding fence, facts api-scaler §4, facts admission §4 row 41, decisions D35.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from modeldeployment.admission import patching
from modeldeployment.admission.claims import BINDING, DECISION, Claim
from modeldeployment.admission.examples import Example
from modeldeployment.admission.facts import Actor, Needs
from modeldeployment.admission.patching import Operation
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.subjects import DeploymentReview, RoleReview
from modeldeployment.admission.verdict import Cause, Refusal
from modeldeployment.api import keys, managed

_UID: Final = "8c4e1f0a-3c1b-4a57-9d52-0b7a5b0f6d11"
_CLAIMED: Final = {BINDING: f'{{"scalerName":"qwen-72b","scalerUID":"{_UID}","term":3}}'}
_KNOWN: Final = {"qwen-72b": {"metadata.uid": _UID}}


@row(
    trigger=Example(_CLAIMED | {"spec.roles[0].replicas": 5}, old=_CLAIMED),
    near_miss=Example(_CLAIMED | {"spec.roles[0].image": "registry/own:1"}, old=_CLAIMED),
    spares_deleting=True,
)
def counts_of_a_scaler(review: DeploymentReview) -> Iterator[Refusal]:
    """MD041 | spec.roles[*].replicas | While a scaler owns a deployment, nobody else writes its replica counts.

    Two writers would undo each other. Everything else stays editable. To change counts, edit the bounds of the scaler;
    to take them over, set its `suspend` to true or delete it, which releases the deployment and leaves it serving. A
    GitOps controller has to ignore the counts and both scaler annotations (spec 3 §GitOps sync). Source: spec 3
    §Binding fence, facts admission §4 row 41.
    """
    stored = Claim.of(review.old).binding
    if review.actor is Actor.OPERATOR or stored is None:
        return
    by = _writer(review)
    for role in review.roles:
        if role.old is not None and role.old.replicas != role.role.replicas:
            field = f"{role.path}.replicas"
            yield Refusal(
                "MD041",
                field,
                role.role.replicas,
                why=f"the ModelDeploymentScaler {stored.scaler_name} owns the counts of this deployment, and this "
                f"write{by} changes {role.role.name} from {role.old.replicas} to {role.role.replicas}",
                way_out=f"edit minReplicas and maxReplicas of {stored.scaler_name}, or suspend or delete it first; "
                "have a GitOps controller ignore replicas and both scaler annotations; where that scaler is gone, take "
                "its binding annotation away first",
                cause=Cause.FORBIDDEN,
                patch=(patching.put(field, role.old.replicas),),
            )


@row(
    trigger=Example({DECISION: '{"decisionID":"d-1","term":1,"vector":{"server":4}}'}, old={}),
    near_miss=Example(_CLAIMED | {"metadata.annotations[team]": "a"}, old=_CLAIMED),
    spares_deleting=True,
)
def annotation_of_the_operator(review: DeploymentReview) -> Iterator[Refusal]:
    """MD050 | metadata.annotations[*] | The two scaler annotations are written by the operator.

    They say which scaler owns the counts and what it committed, so whoever could write them could take a deployment
    over. A new deployment is created without them; a copy of a manifest from a cluster has to leave them out. Only an
    orphaned or unreadable binding may be taken away (MD053), and the decision with it, never without. Source: spec 3
    §Binding fence, decisions D35.
    """
    if review.actor is Actor.OPERATOR:
        return
    old, new = Claim.of(review.old), Claim.of(review.new)
    released = old.binding_text is not None and new.binding_text is None
    for field, key, before, after in (
        (BINDING, keys.SCALER_BINDING, old.binding_text, new.binding_text),
        (DECISION, keys.SCALER_DECISION, old.decision_text, new.decision_text),
    ):
        if before == after or (released and after is None):
            continue
        done = "adds" if before is None else "removes" if after is None else "changes"
        yield Refusal(
            "MD050",
            field,
            after,
            why=f"this write {done} {key}, which says who owns the replica counts and is the operator's to write",
            way_out="leave it out"
            if before is None
            else "leave it as it is stored, and have GitOps controllers ignore it",
            cause=Cause.FORBIDDEN,
            patch=(patching.remove(field),) if before is None else _restored(review, {key: before}),
        )


@row(
    trigger=Example({}, old=_CLAIMED, known=_KNOWN),
    near_miss=Example({}, old=_CLAIMED, known={"qwen-72b": {"metadata.uid": "another"}}),
    needs=Needs.SCALER,
    spares_deleting=True,
)
def binding_in_use(review: DeploymentReview) -> Iterator[Refusal]:
    """MD053 | metadata.annotations[modeldeployment.gpustack.ai/scaler-binding] | Only an orphaned binding goes.

    A user may remove the binding annotation when the scaler it names is gone, or is another one of the same name (its
    UID differs), or when the annotation cannot be read; the write that does so leaves every count as it is. While the
    scaler is there, suspending or deleting it releases the binding. Source: spec 3 §Binding fence, decisions D35.
    """
    old = Claim.of(review.old)
    if review.actor is Actor.OPERATOR or old.binding_text is None or Claim.of(review.new).binding_text is not None:
        return
    patch = _restored(review, _taken(review, old))
    if old.binding is None:
        moved = [role.role.name for role in _moved(review)]
        if moved:
            yield Refusal(
                "MD053",
                BINDING,
                None,
                why="this write takes away a binding that cannot be read and changes the count of "
                f"{' and '.join(moved)} as well, and such a recovery leaves every count as it is",
                way_out="take the annotation away in one write, and change counts in the next",
                cause=Cause.FORBIDDEN,
                patch=patch,
            )
        return
    name = old.binding.scaler_name
    if name not in review.facts.scalers:
        return
    scaler = review.facts.scalers.get(name)
    if scaler is not None and scaler.metadata.uid == old.binding.scaler_uid:
        yield Refusal(
            "MD053",
            BINDING,
            None,
            why=f"the ModelDeploymentScaler {name} that owns this deployment is still there, with the same UID",
            way_out=f"suspend or delete {name}, which releases the deployment and leaves it serving",
            cause=Cause.FORBIDDEN,
            patch=patch,
        )


def _writer(review: DeploymentReview) -> str:
    """Who changes counts, as the field manager of the write names itself; a GitOps controller is told by it."""
    told = patching.found(review.body, "metadata.managedFields")
    entries = [each for each in told if isinstance(each, Mapping)] if isinstance(told, Sequence) else []
    writers = managed.writers(entries, [role.role.name for role in _moved(review)])
    return f" by {writers[0]}" if writers else ""


def _moved(review: DeploymentReview) -> list[RoleReview]:
    return [role for role in review.roles if role.old is not None and role.old.replicas != role.role.replicas]


def _taken(review: DeploymentReview, old: Claim) -> dict[str, str]:
    """The stored annotations that this write takes away, the binding among them."""
    stored = {keys.SCALER_BINDING: old.binding_text, keys.SCALER_DECISION: old.decision_text}
    kept = review.new.metadata.annotations
    return {key: text for key, text in stored.items() if text is not None and key not in kept}


def _restored(review: DeploymentReview, annotations: Mapping[str, str]) -> tuple[Operation, ...]:
    """The edit that puts annotations back, with the map around them where that went too."""
    if patching.found(review.body, "metadata.annotations") is None:
        return (patching.put("metadata.annotations", dict(annotations)),)
    return tuple(patching.put(f"metadata.annotations[{key}]", text) for key, text in annotations.items())


RULES: Final[tuple[Row[Any, Any], ...]] = (counts_of_a_scaler, annotation_of_the_operator, binding_in_use)
