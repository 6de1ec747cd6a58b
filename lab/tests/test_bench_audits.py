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
