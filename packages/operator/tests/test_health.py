"""What the operator says when it cannot watch: one sentence, with the way out."""

from collections.abc import Sequence
from typing import Any

from modeldeployment.kube import Forbidden, Kind, KubeError, NotFound, ServerFailure, Unreachable
from modeldeployment.kube.errors import Details
from modeldeployment.kube.kinds import PODS, WORKLOADS
from modeldeployment.operator import health
from modeldeployment.reconcile import DEPLOYMENTS, INSTANCE_TYPES


def absent() -> NotFound:
    return NotFound(404, "NotFound", "the server could not find the requested resource", Details())


def sentence(watches: Sequence[tuple[Kind[Any], KubeError | None]]) -> str:
    found = health.trouble(watches)
    assert found is not None
    return found.sentence


def test_nothing_is_said_while_every_watch_works() -> None:
    assert health.trouble([(PODS, None), (DEPLOYMENTS, None)]) is None


def test_missing_definitions_of_ours_name_the_command_that_installs_them() -> None:
    assert sentence([(PODS, None), (DEPLOYMENTS, absent()), (INSTANCE_TYPES, absent())]) == (
        "the cluster does not know instancetypes.worker.gpustack.ai, modeldeployments.worker.gpustack.ai; "
        "install ours with `modeldeployment-operator crds | kubectl apply --server-side -f -`"
    )


def test_a_cluster_without_kueue_is_told_so() -> None:
    assert sentence([(WORKLOADS, absent())]) == ("the cluster does not know workloads.kueue.x-k8s.io; install Kueue")


def test_missing_rights_name_the_kinds() -> None:
    refused = Forbidden(403, "Forbidden", "no", Details())
    assert sentence([(PODS, refused)]) == (
        "not allowed to list and watch pods; grant it to the operator's service account"
    )


def test_a_server_that_does_not_answer_is_waited_for() -> None:
    away = Unreachable("https://127.0.0.1:1 does not answer\nhint: look at it")
    assert sentence([(PODS, away), (WORKLOADS, away)]) == (
        "https://127.0.0.1:1 does not answer; going on by itself when the API server answers again"
    )


def test_a_server_that_fails_in_other_words_is_the_same_trouble() -> None:
    away = health.trouble([(PODS, Unreachable("https://127.0.0.1:1 does not answer"))])
    starting = health.trouble([(WORKLOADS, ServerFailure(503, "ServiceUnavailable", "starting", Details()))])
    assert away == starting
    assert away != health.trouble([(WORKLOADS, absent())])
