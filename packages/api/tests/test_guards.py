import json
import re
from typing import Any

from guard_examples import SHOWN
from modeldeployment.api import frozen
from modeldeployment.api.crds import KINDS, crds
from modeldeployment.api.guards import GUARDS, of

CODES = {
    "ModelDeployment": {"MD009", "MD011", "MD016", "MD033", "MD034"},
    "ModelDeploymentScaler": {"MD102", "MD111", "MD160"},
    "InstanceType": {"MD201", "MD202"},
    "KVCacheBackend": {"MD203", "MD204"},
    "KVCachePool": {"MD205", "MD206", "MD207"},
    "KVCachePoolBinding": {"MD208", "MD209", "MD210", "MD211"},
    "ModelArtifact": {"MD212", "MD213", "MD214"},
}


def held_by(schema: dict[str, Any]) -> list[dict[str, Any]]:
    below = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return [*schema.get("x-kubernetes-validations", []), *(rule for child in below for rule in held_by(child))]


def written(rules: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(rule, sort_keys=True) for rule in rules)


def test_the_table_lists_what_the_schemas_hold_and_nothing_else() -> None:
    for crd in crds():
        kind = crd["spec"]["names"]["kind"]
        held = held_by(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
        assert written(held) == written([rule.keywords() for rule in of(kind)]), kind


def test_every_kind_has_codes_of_its_own() -> None:
    assert {kind.name: {rule.code for rule in of(kind.name)} for kind in KINDS} == CODES


def test_a_code_says_the_same_thing_wherever_it_stands() -> None:
    for codes in CODES.values():
        for code in codes - {"MD033"}:
            whys = {rule.why.replace(rule.field.rsplit(".", 1)[-1], "") for rule in GUARDS if rule.code == code}
            assert len(whys) == (2 if code == "MD016" else 1), code


def test_a_message_names_field_reason_and_way_out_and_ends_with_its_code() -> None:
    for rule in GUARDS:
        message = rule.keywords()["message"]
        assert message == f"{rule.field} {rule.why}; {rule.way_out} ({rule.code})"
        assert re.fullmatch(r"[^\n]+; [^\n]+ \(MD\d{3}\)", message)
        assert not rule.why.endswith((".", ";")), message
        assert not re.search(r"\b(simply|just|obviously|please|must not)\b", message), message


def test_identity_is_told_in_one_sentence_and_size_in_its_own() -> None:
    identity = {rule.why for rule in of("ModelDeployment") if rule.code == "MD033" and rule is not frozen.SIZE}
    (why,) = identity
    assert why.startswith("identifies the deployment")
    assert "a different value describes a different deployment" in why
    assert "created rather than edited" in why
    assert "identif" not in frozen.SIZE.sentence
    assert "change replicas to scale" in frozen.SIZE.sentence
    assert "create another deployment" in frozen.SIZE.sentence
    assert not re.search(r"\b(lock|conflict|race)", frozen.SIZE.sentence)
    assert "immutable" in frozen.ROUTER_NAME.sentence


def test_every_rule_has_an_example() -> None:
    assert [shown.rule for shown in SHOWN] == list(GUARDS)
