"""Kueue's Pod webhook: what a Pod with a queue name gets when it is created (facts kueue §3)."""

from collections.abc import Callable

from modeldeployment.api import keys, kueue
from modeldeployment.lab.model import answers
from modeldeployment.lab.model.resources import JSON, Resource

_GATES = (kueue.ADMISSION_GATE, kueue.TOPOLOGY_GATE)


def admit(serves: Callable[[], bool]) -> Callable[[Resource, JSON], JSON]:
    """Make the admission step; while nothing `serves`, no Pod at all can be created."""

    def mutate(of: Resource, thing: JSON) -> JSON:
        if of.plural != "pods":
            return thing
        if not serves():
            raise answers.unreachable_webhook("mpod.kb.io")
        labels = thing["metadata"].get("labels") or {}
        if not labels.get(keys.QUEUE_NAME):
            return thing
        annotations = thing["metadata"].get("annotations") or {}
        name = thing["metadata"]["name"]
        if (keys.GROUP_NAME in labels) is not (keys.GROUP_TOTAL in annotations):
            why = "both the group's name and its total count should be set, or neither"
            raise answers.invalid(of, name, "metadata", why)
        finalizers = [*(thing["metadata"].get("finalizers") or ())]
        gates = [each["name"] for each in thing["spec"].get("schedulingGates") or ()]
        metadata = {
            **thing["metadata"],
            "labels": {**labels, kueue.MANAGED: keys.TRUE},
            "finalizers": [*finalizers, *({kueue.MANAGED} - {*finalizers})],
        }
        gated = [{"name": each} for each in (*gates, *(gate for gate in _GATES if gate not in gates))]
        return {**thing, "metadata": metadata, "spec": {**thing["spec"], "schedulingGates": gated}}

    return mutate
