"""One pass from its input to its vector: what was read, what was recommended, and every rule that was at work."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from modeldeployment.api import Quantity
from modeldeployment.api.scalerconditions import ScalerCondition, ScalerReason
from modeldeployment.operator.errors import UsageError
from modeldeployment.operator.people.scalers.passes import spelt
from modeldeployment.scaler.journal import Line
from modeldeployment.scaler.planning import Plan, RolePlan, RoleReading, Step, TargetRole, coding, sentences

_STAGE: Final = 14
_SIGNALS: Final = (
    ("running_requests", "running", ""),
    ("waiting_requests", "waiting", ""),
    ("prompt_tokens_per_second", "prompt", " tokens/s"),
    ("generation_tokens_per_second", "generation", " tokens/s"),
    ("ttft_milliseconds", "TTFT", " ms"),
    ("itl_milliseconds", "ITL", " ms"),
    ("kv_cache_usage", "cache", " used"),
)


@dataclass(frozen=True, slots=True)
class Reasons:
    """What a pass was planned from and came to, of all roles or of one."""

    line: Line
    plan: Plan
    role: str | None
    source: str

    @property
    def settled(self) -> bool:
        """Whether everything was measured, and each role asked about has the count that its algorithm recommends."""
        roles = self._roles()
        measured = all(
            each.reason is ScalerReason.OBSERVED
            for each in self.plan.findings
            if each.condition is ScalerCondition.METRICS_READY
        )
        return measured and not self._unscaled() and all(each.raw == each.constrained for each in roles)

    def lines(self) -> Iterator[str]:
        """A block for each role, then the vector, the conditions, and what helps."""
        line, plan = self.line, self.plan
        written = "written" if line.committed else "not written" if plan.move else "nothing to write"
        yield f"{line.namespace}/{line.name} at {spelt(line.at)}: spec generation {line.generation}, {written}"
        for role in self._roles():
            yield from self._role(role)
        yield from (
            f"role {each.name}: {each.replicas} declared, not scaled: the scaler has no bounds for it"
            for each in self._unscaled()
        )
        declared = line.target.vector
        moved = [
            f"{name} {count}" if declared.get(name) == count else f"{name} {declared.get(name, 0)} -> {count}"
            for name, count in plan.vector.items()
        ]
        move = f" ({plan.move.value})" if plan.move is not None else ""
        yield f"vector: {', '.join(moved) or 'no role'}{move}"
        yield from (f"{each.condition.value} {each.reason.value}: {sentences.finding(each)}" for each in plan.findings)
        ways = dict.fromkeys(way for step in self._steps() if (way := sentences.way_out(step.cause)))
        yield from (f"what helps: {way}" for way in ways)

    def table(self) -> dict[str, Any]:
        """The same for programs."""
        line, plan = self.line, self.plan
        return {
            "namespace": line.namespace,
            "name": line.name,
            "at": spelt(line.at),
            "source": self.source,
            "settled": self.settled,
            "generation": line.generation,
            "decisionID": line.decision_id,
            "term": line.term,
            "committed": line.committed,
            "declared": dict(line.target.vector),
            "vector": dict(plan.vector),
            "move": plan.move.value if plan.move is not None else None,
            "roles": [self._row(each) for each in self._roles()],
            "conditions": [
                {"type": each.condition.value, "reason": each.reason.value, "message": sentences.finding(each)}
                for each in plan.findings
            ],
        }

    def _roles(self) -> tuple[RolePlan, ...]:
        return tuple(each for each in self.plan.roles if self.role in (None, each.name))

    def _unscaled(self) -> tuple[TargetRole, ...]:
        known = {each.name for each in self.plan.roles}
        return tuple(
            each for each in self.line.target.roles if each.name not in known and self.role in (None, each.name)
        )

    def _steps(self) -> Iterator[Step]:
        return (step for step in self.plan.trail if self.role in (None, step.role))

    def _role(self, role: RolePlan) -> Iterator[str]:
        target = self.line.target.role(role.name)
        read = self.line.reading.roles.get(role.name)
        declared = target.replicas if target is not None else 0
        yield f"role {role.name}: {declared} declared, {_ready(read)}"
        yield f"  {'input':<{_STAGE}}{input_of(read)}"
        for step in self.plan.trail:
            if step.role == role.name:
                yield f"  {step.stage.value:<{_STAGE}}{_counts(step)}: {sentences.of(step)}"
        yield f"  {'outcome':<{_STAGE}}raw {role.raw}, constrained {role.constrained}: {role.reason.value}"

    def _row(self, role: RolePlan) -> dict[str, Any]:
        target = self.line.target.role(role.name)
        read = self.line.reading.roles.get(role.name)
        return {
            "name": role.name,
            "declared": target.replicas if target is not None else 0,
            "input": msgspec.json.decode(coding.encode(read)) if read is not None else None,
            "steps": [
                {**msgspec.json.decode(coding.encode(step)), "sentence": sentences.of(step)}
                for step in self.plan.trail
                if step.role == role.name
            ],
            "raw": role.raw,
            "constrained": role.constrained,
            "reason": role.reason.value,
        }


def of(line: Line, plan: Plan, role: str | None, source: str) -> Reasons:
    """The reasons of a pass; raises UsageError for a role that it has not, naming those it has."""
    known = list(dict.fromkeys([*(each.name for each in plan.roles), *(each.name for each in line.target.roles)]))
    if role is not None and role not in known:
        raise UsageError(f"{line.namespace}/{line.name} has no role {role!r}; it has {', '.join(known) or 'none'}")
    return Reasons(line, plan, role, source)


def input_of(read: RoleReading | None) -> str:
    """What a role's engines reported, in words."""
    if read is None:
        return "not read"
    signals = [
        f"{word} {_shown(value)}{unit}" for name, word, unit in _SIGNALS if (value := getattr(read, name)) is not None
    ]
    state = f"{read.state.value}{'' if read.complete else ', not every ready replica'}"
    read_at = f" at {spelt(read.at)}" if read.at is not None else ""
    return f"{state}{read_at}: {', '.join(signals) or 'no signal'}"


def _ready(read: RoleReading | None) -> str:
    return f"{read.ready} ready" if read is not None else "not read"


def _counts(step: Step) -> str:
    if step.before != step.after:
        return f"{step.before} -> {step.after}"
    held = f" instead of {step.wanted}" if step.wanted not in (None, step.after) else ""
    return f"{step.after}{held}"


def _shown(value: int | Quantity) -> str:
    return sentences.shown(str(value))
