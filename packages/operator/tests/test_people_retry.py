"""`kubectl md retry` from its command line to the annotation, and to what became of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from modeldeployment.api import keys
from people_clusters import JSON, Cluster, served
from people_retirements import KEPT, retirement, shrunk, uid
from people_worlds import Said, run

Capture = pytest.CaptureFixture[str]


def told(cluster: Cluster, folder: Path, capsys: Capture, *arguments: str, name: str = "qwen-72b") -> Said:
    """Run `retry` on that cluster."""
    with served(cluster, folder) as kubeconfig:
        return run(capsys, "retry", name, *arguments, "-n", "team-a", "--kubeconfig", kubeconfig)


def kept(declared: int = 2, **fields: Any) -> Cluster:
    """The retirement of `server/3` was aborted, and the spec wants it gone still."""
    cluster = shrunk(declared=declared)
    retirement(cluster, "Aborted", **fields)
    return cluster


def heeded(token: str, state: str, **fields: object) -> Callable[[JSON], None]:
    """An operator that heeds the request and brings the operation to this state."""

    def heed(stored: JSON) -> None:
        del stored["metadata"]["annotations"][keys.RETIREMENT_RETRY]
        said = {"state": state, "lastConsumedRetryToken": token, "startedAt": "2030-01-01T13:00:00Z", **fields}
        stored["status"]["retirement"].update(said)

    return heed


def left(cluster: Cluster) -> Callable[[JSON], None]:
    """An operator that retires it at once."""

    def leave(stored: JSON) -> None:
        gone = uid(cluster, 3)
        del stored["metadata"]["annotations"][keys.RETIREMENT_RETRY]
        del stored["status"]["retirement"]
        cluster.held["pods"] = [each for each in cluster.held["pods"] if each["metadata"]["uid"] != gone]

    return leave


def test_the_request_is_written_with_a_fresh_token_on_the_object_that_was_seen(tmp_path: Path, capsys: Capture) -> None:
    cluster = kept()
    said = told(cluster, tmp_path, capsys, "server/3")
    assert said.status == 0, said.err
    (body,) = cluster.patched
    assert body["metadata"]["uid"] == "uid-md"
    role, ordinal, token = body["metadata"]["annotations"][keys.RETIREMENT_RETRY].split(":")
    assert (role, ordinal, len(token)) == ("server", "3", 8)
    assert said.out == f"server/3: retry asked for with token {token}\n"


def test_two_requests_have_two_tokens(tmp_path: Path, capsys: Capture) -> None:
    cluster = kept()
    told(cluster, tmp_path, capsys, "server/3")
    told(cluster, tmp_path, capsys, "server/3")
    first, second = (body["metadata"]["annotations"][keys.RETIREMENT_RETRY] for body in cluster.patched)
    assert first != second


def test_a_token_of_ones_own_is_taken_as_it_is(tmp_path: Path, capsys: Capture) -> None:
    cluster = kept()
    said = told(cluster, tmp_path, capsys, "server/3", "--token", "ticket-42", "-o", "json")
    assert json.loads(said.out) == {"replica": "server/3", "token": "ticket-42", "outcome": "Asked", "reason": ""}
    assert cluster.patched[0]["metadata"]["annotations"] == {keys.RETIREMENT_RETRY: "server:3:ticket-42"}


def test_it_waits_until_the_replica_has_left(tmp_path: Path, capsys: Capture) -> None:
    cluster = kept()
    cluster.heeds = left(cluster)
    said = told(cluster, tmp_path, capsys, "server/3", "--token", "t", "--wait")
    assert (said.status, said.out) == (0, "server/3 has left\n")
    assert "server/3: retry asked for with token t" in said.err


def test_it_says_when_it_is_kept_again_and_why(tmp_path: Path, capsys: Capture) -> None:
    cluster = kept()
    cluster.heeds = heeded("t", "Aborted", reason=KEPT)
    said = told(cluster, tmp_path, capsys, "server/3", "--token", "t", "--wait")
    assert (said.status, said.out) == (1, f"server/3 was aborted again: {KEPT}\n")


def test_it_says_when_the_replica_was_declared_again(tmp_path: Path, capsys: Capture) -> None:
    cluster = kept()

    def adopted(stored: JSON) -> None:
        del stored["status"]["retirement"]

    cluster.heeds = adopted
    said = told(cluster, tmp_path, capsys, "server/3", "--wait")
    assert said.status == 1
    assert said.out == "server/3 stays: its retirement was taken back, as the spec declares it\n"


def test_it_says_when_somebody_took_the_request_off(tmp_path: Path, capsys: Capture) -> None:
    cluster = kept()
    cluster.heeds = lambda stored: stored["metadata"]["annotations"].clear()
    said = told(cluster, tmp_path, capsys, "server/3", "--wait")
    assert said.status == 1
    assert said.out == f"server/3 was not retried: annotation {keys.RETIREMENT_RETRY} went before it was heeded\n"


def test_it_waits_no_longer_than_it_is_told_and_says_how_far_it_came(tmp_path: Path, capsys: Capture) -> None:
    cluster = kept()
    cluster.heeds = heeded("t", "Draining", reason="waiting until it runs empty")
    said = told(cluster, tmp_path, capsys, "server/3", "--token", "t", "--wait", "--timeout", "1")
    assert said.status == 1
    assert said.out == ("server/3 has not left in the time that was given: Draining; waiting until it runs empty\n")
    assert "kubectl md: server/3: Draining" in said.err


def test_what_no_operator_heeds_is_said_to_be_so(tmp_path: Path, capsys: Capture) -> None:
    said = told(kept(), tmp_path, capsys, "server/3", "--wait", "--timeout", "1", "-o", "json")
    assert json.loads(said.out)["outcome"] == "Late"
    assert json.loads(said.out)["reason"].startswith("not heeded yet; drain took all of its time")


def test_without_a_retirement_there_is_nothing_to_retry(tmp_path: Path, capsys: Capture) -> None:
    cluster = shrunk()
    said = told(cluster, tmp_path, capsys, "server/3")
    assert (said.status, cluster.patched) == (1, [])
    assert said.err == ("kubectl md: no retirement of server/3 was aborted: no retirement is under way or retained\n")


def test_the_one_that_was_aborted_is_named(tmp_path: Path, capsys: Capture) -> None:
    said = told(kept(), tmp_path, capsys, "server/2")
    assert said.err == "kubectl md: no retirement of server/2 was aborted: the one that was is of server/3\n"


def test_one_under_way_needs_no_retry(tmp_path: Path, capsys: Capture) -> None:
    cluster = shrunk()
    retirement(cluster)
    said = told(cluster, tmp_path, capsys, "server/3")
    assert said.status == 1
    assert said.err == (
        "kubectl md: the retirement of server/3 is not aborted: it is Draining until 2030-01-01T12:04:07Z at the "
        "latest and goes on by itself\n"
    )
    other = told(cluster, tmp_path, capsys, "server/2")
    assert other.err.endswith("the one under way is of server/3, which is Draining\n")


def test_one_that_is_declared_again_is_not_retried(tmp_path: Path, capsys: Capture) -> None:
    said = told(kept(declared=4), tmp_path, capsys, "server/3")
    assert said.status == 1
    assert said.err == (
        "kubectl md: qwen-72b declares 4 replicas of role server, server/3 among them, so it stays; to let it leave, "
        "set replicas of role server to 3\n"
    )


def test_one_whose_pods_are_gone_is_not_retried(tmp_path: Path, capsys: Capture) -> None:
    said = told(kept(targetMemberUIDs=["gone"]), tmp_path, capsys, "server/3")
    assert said.status == 1
    assert said.err == ("kubectl md: no Pod of server/3 is left to retire: it was terminated from outside\n")


def test_a_token_that_was_used_is_refused(tmp_path: Path, capsys: Capture) -> None:
    said = told(kept(lastConsumedRetryToken="t"), tmp_path, capsys, "server/3", "--token", "t")
    assert said.status == 1
    assert said.err == "kubectl md: token 't' was used for server/3 already; leave --token out for a fresh one\n"


def test_a_deployment_on_its_way_out_has_nothing_to_retry(tmp_path: Path, capsys: Capture) -> None:
    cluster = kept()
    cluster.held["modeldeployments"][0]["metadata"]["deletionTimestamp"] = "2030-01-01T12:00:00Z"
    said = told(cluster, tmp_path, capsys, "server/3")
    assert said.err == (
        "kubectl md: qwen-72b is being deleted, and all of its Pods with it: there is nothing to retry\n"
    )


def test_a_deployment_that_cannot_be_rendered_is_not_judged(tmp_path: Path, capsys: Capture) -> None:
    cluster = kept()
    cluster.held["instancetypes"] = []
    said = told(cluster, tmp_path, capsys, "server/3")
    assert (said.status, cluster.patched) == (1, [])
    assert "cannot be rendered here" in said.err


@pytest.mark.parametrize("replica", ["server", "server/", "/3", "server/-1", "server/03", "server/3/0", "server 3", ""])
def test_what_names_no_replica_is_refused_before_anything_is_asked(
    replica: str, tmp_path: Path, capsys: Capture
) -> None:
    cluster = kept()
    said = told(cluster, tmp_path, capsys, replica)
    assert (said.status, cluster.asked) == (2, [])
    assert said.err == (f"kubectl md: {replica!r} names no replica; write ROLE/ORDINAL, for example server/3\n")


@pytest.mark.parametrize("token", ["", "a:b", "two words", "x" * 64, "line\nbreak", "tab\t"])
def test_what_cannot_be_a_token_is_refused_before_anything_is_asked(
    token: str, tmp_path: Path, capsys: Capture
) -> None:
    cluster = kept()
    said = told(cluster, tmp_path, capsys, "server/3", "--token", token)
    assert (said.status, cluster.asked) == (2, [])
    assert said.err.startswith(f"kubectl md: --token {token!r} cannot be used: a token has 1 to 63 characters")
    assert said.err.endswith("leave it out for a fresh one\n")


def test_a_role_and_a_deployment_that_are_not_there_are_answered_with_those_that_are(
    tmp_path: Path, capsys: Capture
) -> None:
    assert (
        told(kept(), tmp_path, capsys, "decode/0").err == "kubectl md: qwen-72b has no role 'decode'; it has server\n"
    )
    said = told(kept(), tmp_path, capsys, "server/3", name="nobody")
    assert (said.status, said.err) == (
        2,
        "kubectl md: ModelDeployment 'nobody' is not in namespace 'team-a': there is qwen-72b\n",
    )


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("server/3", "--wait", "--timeout", "0"), "--timeout"),
        (("server/3", "--timeout", "soon"), "--timeout"),
        (("server/3", "-o", "yaml"), "--output"),
        (("server/3", "--force"), "--force"),
        ((), "REPLICA"),
    ],
)
def test_options_that_mean_nothing_are_wrong_use(
    arguments: tuple[str, ...], word: str, tmp_path: Path, capsys: Capture
) -> None:
    said = told(kept(), tmp_path, capsys, *arguments)
    assert said.status == 2
    assert word in said.err or "ROLE/ORDINAL" in said.err
