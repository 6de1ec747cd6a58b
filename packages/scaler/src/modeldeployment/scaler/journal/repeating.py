"""The same pass once more: the planner, on what a line says that it was given."""

from pydantic import ValidationError

from modeldeployment.api.scaler import ScalerSpec
from modeldeployment.scaler.errors import Undecodable
from modeldeployment.scaler.journal.line import Line
from modeldeployment.scaler.planning import Plan, plan, policy_of


def repeat(line: Line) -> Plan:
    """Plan what the line was planned from; raises Undecodable for a spec that this release cannot read."""
    try:
        spec = ScalerSpec.model_validate(line.spec)
    except ValidationError as error:
        raise Undecodable(_sentence(error)) from error
    return plan(
        line.memory,
        line.reading,
        line.target,
        policy_of(spec, line.generation),
        now=line.at,
        decision_id=line.decision_id,
        term=line.term,
    )


def _sentence(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
    field = "".join(("spec", *steps))
    if first["type"] == "missing":
        return f"{field} is missing\nhint: it has no default; write it"
    return f"{field} is {first['input']!r}: {first['msg'].removeprefix('Value error, ')}"
