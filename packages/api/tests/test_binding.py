import pytest
from modeldeployment.api import Binding, Decision, keys


def test_a_binding_says_who_owns_the_counts_and_since_which_term() -> None:
    binding = Binding.parse('{"scalerName":"llm-serving","scalerUID":"6e1c","term":3}')
    assert binding == Binding(scaler_name="llm-serving", scaler_uid="6e1c", term=3)
    assert binding.text() == '{"scalerName":"llm-serving","scalerUID":"6e1c","term":3}'


def test_a_decision_says_what_was_committed() -> None:
    decision = Decision.parse('{"decisionID":"d-1","term":3,"vector":{"prefill":3,"decode":2}}')
    assert decision == Decision(decision_id="d-1", term=3, vector={"prefill": 3, "decode": 2})
    assert decision.text() == '{"decisionID":"d-1","term":3,"vector":{"prefill":3,"decode":2}}'


def test_what_a_later_release_adds_to_a_binding_is_ignored() -> None:
    text = '{"scalerName":"llm-serving","scalerUID":"6e1c","term":1,"zone":"a"}'
    assert Binding.parse(text) == Binding(scaler_name="llm-serving", scaler_uid="6e1c", term=1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "llm-serving",
        "null",
        "[]",
        "{}",
        '{"scalerName":"llm-serving","scalerUID":"6e1c"}',
        '{"scalerName":"","scalerUID":"6e1c","term":1}',
        '{"scalerName":"llm-serving","scalerUID":"","term":1}',
        '{"scalerName":"llm-serving","scalerUID":"6e1c","term":0}',
        '{"scalerName":"llm-serving","scalerUID":"6e1c","term":"new"}',
        '{"scalerName":"llm-serving","scalerUID":"6e1c","term":1',
        '{"scalerName":' * 5000,
        '{"scalerName":"llm-serving","scalerUID":"6e1c","term":"3"}',
        '{"scalerName":"llm-serving","scalerUID":"6e1c","term":3.0}',
        '{"scalerName":"llm-serving","scalerUID":"6e1c","term":1e3}',
        '{"scalerName":"llm-serving","scalerUID":"6e1c","term":true}',
        '{"scalerName":"llm-serving","scalerUID":"6e1c","term":-1}',
        '{"scalerName":"llm-serving","scalerUID":"6e1c","term":9223372036854775808}',
        '{"scaler_name":"llm-serving","scaler_uid":"6e1c","term":3}',
        '{"scalerName":["llm-serving"],"scalerUID":"6e1c","term":3}',
        '{"scalerName":"llm-serving","scalerUID":"6e1c","term":3} again',
        '\ufeff{"scalerName":"llm-serving","scalerUID":"6e1c","term":3}',
        "\ud800",
    ],
)
def test_what_is_no_binding_reads_as_none(text: str) -> None:
    assert Binding.parse(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"decisionID":"d-1","term":1}',
        '{"decisionID":"d-1","term":1,"vector":{"server":0}}',
        '{"decisionID":"d-1","term":1,"vector":{"server":"4"}}',
        '{"decisionID":"d-1","term":1,"vector":{"server":4.0}}',
        '{"decisionID":"d-1","term":1,"vector":{"server":true}}',
        '{"decisionID":"d-1","term":1,"vector":["server"]}',
        '{"decisionID":1,"term":1,"vector":{"server":4}}',
        '{"decision_id":"d-1","term":1,"vector":{"server":4}}',
    ],
)
def test_what_is_no_decision_reads_as_none(text: str) -> None:
    assert Decision.parse(text) is None


def test_spaces_around_a_document_are_none_of_it_and_the_last_of_two_members_counts() -> None:
    text = ' {"scalerName":"other", "scalerName":"llm-serving", "scalerUID":"6e1c", "term":9223372036854775807}\n'
    assert Binding.parse(text) == Binding(scaler_name="llm-serving", scaler_uid="6e1c", term=2**63 - 1)


def test_both_annotations_have_a_key() -> None:
    assert keys.SCALER_BINDING == "modeldeployment.gpustack.ai/scaler-binding"
    assert keys.SCALER_DECISION == "modeldeployment.gpustack.ai/scaler-decision"
