"""Plain values go through JSON unchanged, and what is none is told with its field, its value and the way out."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from modeldeployment.api import Quantity
from modeldeployment.api.scalerconditions import RebalanceReason, RoleReason, ScalerReason
from modeldeployment.api.scalerstatus import SignalState
from modeldeployment.scaler.errors import Undecodable
from modeldeployment.scaler.planning import coding
from modeldeployment.scaler.planning.memory import Cohort, Memory, Rebalance
from modeldeployment.scaler.planning.observed import Reading, RoleReading, Target
from modeldeployment.scaler.planning.outcome import Plan, RolePlan
from scaler_plain import values

AT = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize("kind", [Memory, Reading, Target, Plan])
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_value_is_the_same_after_it_was_written_and_read(kind: Any, data: st.DataObject) -> None:
    value = data.draw(values(kind))
    written = coding.encode(value)
    assert coding.decode(written, kind) == value
    assert coding.encode(coding.decode(written, kind)) == written


def test_a_value_is_spelt_as_status_spells_it() -> None:
    reading = RoleReading(
        state=SignalState.FRESH, ready=2, complete=True, at=AT, prompt_tokens_per_second=Quantity.parse("2400.5")
    )
    assert coding.encode(reading) == (
        b'{"state":"Fresh","ready":2,"complete":true,"at":"2026-11-30T10:00:00Z","promptTokensPerSecond":"2400500m"}'
    )


def test_a_vector_keeps_the_order_of_its_roles() -> None:
    cohort = Cohort(
        decision_id="d", term=1, baseline={"prefill": 2, "decode": 1}, target={"prefill": 3, "decode": 1}, started_at=AT
    )
    assert list(coding.decode(coding.encode(cohort), Cohort).baseline) == ["prefill", "decode"]


def test_a_word_of_two_kinds_is_read_as_the_kind_that_has_it() -> None:
    def reason(word: str) -> object:
        return coding.decode(b'{"name":"a","raw":1,"constrained":1,"reason":"%s"}' % word.encode(), RolePlan).reason

    assert type(reason("Panic")) is RoleReason
    assert type(reason("PacingBounded")) is ScalerReason
    rebalance = coding.decode(b'{"reason":"ResourceExhausted","episode":1}', Rebalance)
    assert type(rebalance.reason) is RebalanceReason


@pytest.mark.parametrize(
    ("document", "kind", "told"),
    [
        (b"", Reading, "it is not JSON: Input data was truncated"),
        (b"\xff\xfe\x00", Reading, "it is not JSON: JSON is malformed: invalid character (byte 0)"),
        (b"[1]", Reading, "the document is [1]: it has to be an object"),
        (
            b'{"roles":{"prefill":{"state":"Fresh","ready":"two"}}}',
            Reading,
            'roles.prefill.ready is "two": expected int, got str',
        ),
        (
            b'{"roles":{"prefill":{"state":"Fresh","ready":-2}}}',
            Reading,
            "roles.prefill.ready is -2: expected int >= 0",
        ),
        (
            b'{"roles":{"prefill":{"state":"Fresh","ready":2,"runingRequests":3}}}',
            Reading,
            "roles.prefill.runingRequests is unknown\nhint: write runningRequests",
        ),
        (
            b'{"roles":{"prefill":{"state":"Fresh"}}}',
            Reading,
            "roles.prefill.ready is missing\nhint: it has no default; write it",
        ),
        (
            b'{"roles":{"prefill":{"state":"Sleepy","ready":2}}}',
            Reading,
            'roles.prefill.state is "Sleepy": it is none of Fresh, Idle, Missing, Stale',
        ),
        (
            b'{"roles":{"prefill":{"state":"Fresh","ready":2,"kvCacheUsage":"half"}}}',
            Reading,
            "roles.prefill.kvCacheUsage is \"half\": 'half' is not a quantity: write a number such as 2, 500m or 16Gi",
        ),
        (
            b'{"roles":{"prefill":{"state":"Fresh","ready":2,"at":"2026-11-30T10:00:00"}}}',
            Reading,
            'roles.prefill.at is "2026-11-30T10:00:00": expected datetime with a timezone component',
        ),
        (
            b'{"name":"a","uid":"u","generation":1,"roles":[{"name":"p","kind":"Prefill","replicas":1},{"name":"d","kind":"Decode","replicas":true}]}',
            Target,
            "roles[1].replicas is true: expected int, got bool",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_field_its_value_and_why(document: bytes, kind: Any, told: str) -> None:
    with pytest.raises(Undecodable) as raised:
        coding.decode(document, kind)
    assert str(raised.value) == told
