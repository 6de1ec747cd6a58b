"""Plans once for one scaler, and sees to what becomes of the plan: commit, journal, status, events."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Final, Protocol, assert_never

import msgspec

from modeldeployment.api.binding import Decision
from modeldeployment.kube import Client
from modeldeployment.scaler import adopting, committing, planning, reverting, wording
from modeldeployment.scaler.case import Case
from modeldeployment.scaler.committing import Abandoned, Lost, Outcome, Refused, Written
from modeldeployment.scaler.journal import Line
from modeldeployment.scaler.observing import Declared, Seen
from modeldeployment.scaler.planning import Memory, Reading, editing
from modeldeployment.scaler.reporting import Planned
from modeldeployment.scaler.standing import Unsettled
from modeldeployment.scaler.tallying import Tally
from modeldeployment.scaler.telling import Teller

log: Final = logging.getLogger(__name__)


class Recording(Protocol):
    """Who keeps passes; `journal.Journal` does."""

    def append(self, line: Line, /) -> None:
        """Keep a pass."""
        ...

    def forget(self, namespace: str, name: str, /) -> None:
        """Let the passes of a scaler go that is gone."""
        ...


class Actor:
    """Turns readings into counts. `ids` gives each plan the id that a write of it would have."""

    def __init__(
        self,
        client: Client,
        teller: Teller,
        journal: Recording,
        clock: Callable[[], datetime],
        ids: Callable[[], str],
        tally: Tally,
    ) -> None:
        self._client = client
        self._teller = teller
        self._journal = journal
        self._clock = clock
        self._ids = ids
        self._tally = tally

    async def act(self, case: Case, target: Declared, seen: Seen, reading: Reading) -> None:
        """Plan from a reading, and commit where the binding is held. Raises KubeError."""
        now = self._now()
        if case.term:
            await self._catch_up(case, target, seen, now)
        line = self._planned(case, seen, reading, now)
        self._tally.plans += 1
        plan = line.plan
        assert plan is not None, "a pass that plans has a plan"
        if plan.move is None or not case.term:
            case.standing.refused = ""
            await self._end(case, target, line, plan.memory)
            return
        vector = {role.name: plan.vector.get(role.name, role.replicas) for role in target.roles}
        decision = Decision(decision_id=line.decision_id, term=case.term, vector=vector)
        outcome = await committing.commit(self._client, case.key.namespace, target, decision)
        await self._conclude(case, target, line, outcome)

    async def settle(self, case: Case, lost: Unsettled) -> bool:
        """Find out what became of a commit whose answer was lost; whether that is known now. Raises KubeError."""
        outcome = await committing.settle(
            self._client, case.key.namespace, lost.sent, lost.line.decision_id, at_once=False
        )
        if isinstance(outcome, Lost):
            return False
        case.standing.unsettled = None
        await self._conclude(case, lost.sent, lost.line, outcome)
        return True

    def _planned(self, case: Case, seen: Seen, reading: Reading, now: datetime) -> Line:
        """Plan; the line holds all that it was planned from."""
        memory, decision_id = case.standing.memory, self._ids()
        if not case.term:
            memory = editing.released(memory)
        plan = planning.plan(
            memory, reading, seen.target, case.wanted.policy, now=now, decision_id=decision_id, term=case.term
        )
        return Line(
            at=now,
            namespace=case.key.namespace,
            name=case.key.name,
            scaler_uid=case.standing.uid,
            generation=case.wanted.generation,
            spec=dict(case.wanted.body),
            target=seen.target,
            reading=reading,
            memory=memory,
            decision_id=decision_id,
            term=case.term,
            plan=plan,
        )

    async def _catch_up(self, case: Case, target: Declared, seen: Seen, now: datetime) -> None:
        """Remember a commit that was made and not told, and tell who else wrote counts."""
        each, text = case.standing, target.claimed.decision
        decision = Decision.parse(text) if text is not None else None
        if decision is not None and adopting.unknown(each.memory, decision, case.term):
            each.memory = adopting.adopt(each.memory, decision, each.status, seen.target, case.wanted.policy, now)
            self._tally.adopted += 1
            log.info("commit adopted", extra={"object": str(case.key), "reason": decision.decision_id})
            return
        last = each.memory.last_commit
        if last is None or target.generation <= each.memory.target_generation:
            return
        moved = {name: count for name, count in target.vector.items() if last.vector.get(name, count) != count}
        if moved:
            by = await reverting.writers(self._client, case.key.namespace, target.name, tuple(moved))
            told = wording.reverted(target.vector, last.vector, by)
            each.reverted = told.note
            await self._teller.emit(case.stored, told)

    async def _conclude(self, case: Case, target: Declared, line: Line, outcome: Outcome) -> None:
        """Remember, tell and record what became of a commit."""
        each, plan = case.standing, line.plan
        assert plan is not None, "a pass that plans has a plan"
        assert plan.move is not None, "only a move is committed"
        assert plan.committed is not None, "a move says what is remembered of it"
        match outcome:
            case Written(version, generation):
                each.wrote = int(version)
                each.refused = each.reverted = ""
                self._tally.count(self._tally.commits, plan.move.value)
                told = wording.committed(plan.move, target.vector, plan.vector, line.decision_id)
                log.info("counts committed", extra={"object": str(case.key), "reason": told.note})
                await self._teller.emit(case.stored, told)
                line = msgspec.structs.replace(line, committed=True)
                await self._end(case, target, line, _at(plan.committed, generation))
            case Abandoned(why):
                self._tally.count(self._tally.unwritten, "Abandoned")
                await self._teller.emit(case.stored, wording.abandoned(target.vector, plan.vector, why))
                await self._end(case, target, line, plan.memory)
            case Refused(why):
                self._tally.count(self._tally.unwritten, "Refused")
                told = wording.refused(wording.changed(target.vector, plan.vector), why)
                each.refused = told.note
                await self._teller.emit(case.stored, told)
                await self._end(case, target, line, plan.memory)
            case Lost(_, sent):
                self._tally.count(self._tally.unwritten, "Lost")
                each.unsettled = Unsettled(sent, line)
                each.due = None
            case other:
                assert_never(other)

    async def _end(self, case: Case, target: Declared, line: Line, memory: Memory) -> None:
        """End a pass that planned: what is remembered now, the journal, and status."""
        assert line.plan is not None, "a pass that plans has a plan"
        case.standing.memory = memory
        self._journal.append(line)
        vector = {**target.vector, **line.plan.vector} if line.committed else target.vector
        planned = Planned(line.target, vector, line.reading, line.plan, memory)
        await self._teller.tell(case.of(target), planned)

    def _now(self) -> datetime:
        # Status keeps whole seconds, and what is remembered is what status keeps.
        return self._clock().replace(microsecond=0)


def _at(memory: Memory, generation: int) -> Memory:
    """What is remembered, with the generation that the target really has."""
    commit = memory.last_commit
    return msgspec.structs.replace(
        memory,
        last_commit=None if commit is None else msgspec.structs.replace(commit, target_generation=generation),
        target_generation=generation,
    )
