import json
from pathlib import Path
from typing import Any

from modeldeployment.lab.bench import audits

OPERATOR = "system:serviceaccount:bench:operator"


def entry(verb: str, resource: str, *, user: str = OPERATOR, **fields: Any) -> bytes:
    stage = fields.pop("stage", "ResponseComplete")
    about = {"resource": resource, **fields}
    who = {"username": user}
    return json.dumps({"verb": verb, "stage": stage, "user": who, "requestURI": "/x", "objectRef": about}).encode()


def test_requests_are_counted_by_verb_and_resource_of_one_user() -> None:
    lines = [
        entry("create", "pods"),
        entry("create", "pods"),
        entry("patch", "modeldeployments", subresource="status"),
        entry("create", "pods", user="system:serviceaccount:bench:driver"),
    ]
    assert audits.requests(lines, OPERATOR) == {("create", "pods"): 2, ("patch", "modeldeployments/status"): 1}


def test_a_watch_counts_when_it_begins_and_not_again_when_it_ends() -> None:
    lines = [entry("watch", "pods", stage="ResponseStarted"), entry("watch", "pods")]
    assert audits.requests(lines, OPERATOR) == {("watch", "pods"): 1}


def test_a_request_for_no_resource_is_counted_by_its_path() -> None:
    line = json.dumps(
        {"verb": "get", "stage": "ResponseComplete", "user": {"username": OPERATOR}, "requestURI": "/version"}
    )
    assert audits.requests([line.encode()], OPERATOR) == {("get", "/version"): 1}


def test_watches_and_everything_about_leases_are_left_out() -> None:
    counted = {("watch", "pods"): 3, ("patch", "leases"): 4, ("get", "leases"): 1, ("list", "pods"): 2}
    assert audits.besides_watches_and_leases(counted) == {("list", "pods"): 2}


def test_writes_are_all_but_reads() -> None:
    counted = {("list", "pods"): 2, ("get", "pods"): 1, ("create", "events"): 1, ("patch", "leases"): 9}
    assert audits.writes(counted) == {("create", "events"): 1}


def test_requests_are_told_in_words() -> None:
    assert audits.told({("patch", "leases"): 30, ("create", "pods"): 2}) == "2 create pods, 30 patch leases"
    assert audits.told({}) == "none"


def test_the_log_gives_only_what_is_new_and_waits_for_whole_lines(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    log = audits.Log(file, OPERATOR)
    assert log.since_last() == {}
    whole, half = entry("create", "pods") + b"\n", entry("delete", "pods") + b"\n"
    file.write_bytes(whole + half[:10])
    assert log.since_last() == {("create", "pods"): 1}
    file.write_bytes(whole + half)
    assert log.since_last() == {("delete", "pods"): 1}


def test_the_policy_records_one_group_and_nobody_else() -> None:
    policy = audits.policy("system:serviceaccounts:bench")
    assert policy["rules"] == [
        {"level": "Metadata", "userGroups": ["system:serviceaccounts:bench"]},
        {"level": "None"},
    ]


def answered(verb: str, at: int, version: str, *, user: str = OPERATOR, uid: str = "a", code: int = 200) -> bytes:
    made = {"metadata": {"uid": uid, "resourceVersion": version}}
    return json.dumps(
        {
            "verb": verb,
            "user": {"username": user},
            "requestURI": "/x",
            "objectRef": {"resource": "pods"},
            "requestReceivedTimestamp": f"2026-01-01T00:00:0{at}.000000Z",
            "responseStatus": {"code": code},
            "responseObject": made,
        }
    ).encode()


def test_a_write_that_leaves_the_version_of_anybodys_earlier_write_had_no_effect() -> None:
    lines = [
        answered("patch", 3, "7"),
        answered("create", 1, "5", user="somebody"),
        answered("patch", 2, "7", user="somebody"),
        answered("patch", 4, "8"),
        answered("patch", 5, "8", uid="b"),
    ]
    assert audits.without_effect(lines, OPERATOR) == {("patch", "pods"): 1}


def test_a_final_delete_which_makes_no_version_had_an_effect_and_a_second_delete_had_none() -> None:
    lines = [answered("patch", 1, "7"), answered("delete", 2, "7"), answered("delete", 3, "7")]
    assert audits.without_effect(lines, OPERATOR) == {("delete", "pods"): 1}


def test_somebody_elses_write_without_effect_and_a_refused_one_do_not_count() -> None:
    lines = [answered("patch", 1, "7"), answered("patch", 2, "7", user="somebody"), answered("patch", 3, "7", code=409)]
    assert audits.without_effect(lines, OPERATOR) == {}
    assert audits.refused(lines, OPERATOR) == {("patch", "pods (409)"): 1}


def test_the_whole_policy_records_answers_of_writes_and_no_reads() -> None:
    nothing, writes, rest = audits.whole_policy()["rules"]
    assert [each["group"] for each in nothing["resources"]] == ["", "events.k8s.io", "coordination.k8s.io"]
    assert (writes["level"], rest["level"]) == ("RequestResponse", "None")
    assert "get" not in writes["verbs"]
