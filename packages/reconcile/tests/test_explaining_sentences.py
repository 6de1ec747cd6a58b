"""One file shows every sentence of a chain with its way out; UPDATE_GOLDEN=1 rewrites it."""

import os
from pathlib import Path

from modeldeployment.reconcile.explaining import sentences
from modeldeployment.reconcile.explaining.links import Link, Why

GOLDEN = Path(__file__).parent / "golden" / "explaining.txt"

GROUP = "gpustack-fnv64-00c0ffee"
LINKS = (
    Link(Why.DELETING, "chat", said="; Pod chat-server-0 is held by kueue.x-k8s.io/managed", have="2 Pods"),
    Link(Why.RENDER_REFUSED, "chat", said="the renderer's own message, word for word"),
    Link(Why.NOT_RENDERED_HERE, "chat", said="you may not read instancetypes.worker.gpustack.ai"),
    Link(Why.STATUS_OLD, "chat", have="3", want="4"),
    Link(Why.NO_OPERATOR, "chat", "Lease default/modeldeployment-operator", "is held by nobody"),
    Link(Why.WEIGHTS_BLOCKED, "role server", said="claim weights is not bound"),
    Link(Why.CACHE_LOST, "role server"),
    Link(Why.TURN_AWAITS_ADMISSION, "role server", have="1", want="2"),
    Link(Why.TURN_AWAITS_READINESS, "role server"),
    Link(Why.TURN_AWAITS_RETIREMENT, "role server"),
    Link(Why.ROUTER_NOT_READY, "chat", said="none of 2 router replicas is ready"),
    Link(Why.QUEUE_UNCHECKED, "chat", "ClusterQueue h20", want="gpustack-model-deployment-joint"),
    Link(
        Why.RETIRING,
        "server/3",
        "status.retirement",
        "waiting until it runs empty: Pod chat-server-3 has 2 requests",
        "Draining",
        " until 2030-01-01T12:04:07Z at the latest",
    ),
    Link(Why.RETIREMENT_ABORTED, "server/3", "status.retirement", "drain took all of its time: nobody has looked"),
    Link(Why.RETIREMENT_HELD, "server/2", "status.retirement", "waits for server/3 to leave: one replica at a time"),
    Link(Why.LEAVING, "server/1", "Pod chat-server-1", said=" and held by kueue.x-k8s.io/managed"),
    Link(Why.STRANDED, "server/1", f"Workload {GROUP}"),
    Link(Why.NOT_CREATED, "server/1"),
    Link(Why.INCOMPLETE, "server/1", have="3", want="4"),
    Link(Why.ENDED, "server/1", "Pod chat-server-1", said="Failed"),
    Link(Why.NO_WORKLOAD, "server/1"),
    Link(Why.NO_LOCAL_QUEUE, "server/1", "LocalQueue entrance-h20"),
    Link(Why.NO_CLUSTER_QUEUE, "server/1", "ClusterQueue h20"),
    Link(Why.QUEUE_INACTIVE, "server/1", "ClusterQueue h20", "Stopped: Can't admit new workloads; is stopped."),
    Link(Why.UNRESERVED, "prefill/0", f"Workload {GROUP} in LocalQueue entrance-h20", ": couldn't assign flavors"),
    Link(Why.PREEMPTED, "prefill/0", f"Workload {GROUP}", "Preempted to accommodate a workload (UID: 7)"),
    Link(Why.EVICTED, "prefill/0", f"Workload {GROUP}", "no replacement for a failed node: n1"),
    Link(Why.FREE, "prefill/0", "ClusterQueue h20, flavor h20-96g", have="4 of 6 cards", want="8 cards"),
    Link(Why.NEVER_FITS, "prefill/0", "ClusterQueue h20", have="6 cards", want="8 cards"),
    Link(Why.PARKED, "prefill/0", f"Workload {GROUP}"),
    Link(Why.YIELDING, "prefill/0", f"Workload {GROUP}", "team-b/older"),
    Link(Why.STOPPED, "prefill/0", f"Workload {GROUP}", ": exceeded the maximum number of re-queuing retries"),
    Link(Why.HELD, "decode/1", f"Workload {GROUP}", "; role prefill waits", "5", "6", ("prefill",)),
    Link(Why.HELD_BY_ANOTHER, "decode/1", f"Workload {GROUP}", "provisioning, which is Retry: no such machine"),
    Link(Why.ADMITTING, "decode/1", f"Workload {GROUP}"),
    Link(Why.GATED, "decode/1", "Pod chat-decode-1", "kueue.x-k8s.io/topology"),
    Link(Why.UNSCHEDULED, "decode/1", "Pod chat-decode-1", "0/3 nodes are available: 3 Insufficient memory."),
    Link(Why.NODE_SILENT, "decode/1", "Pod chat-decode-1", "node-7"),
    Link(Why.CONTAINER_WAITS, "decode/1", "Pod chat-decode-1", "engine waits: ImagePullBackOff"),
    Link(Why.RESTARTING, "decode/1", "Pod chat-decode-1", have="3 times"),
    Link(Why.NOT_READY, "decode/1", "Pod chat-decode-1, one of 4 alike,", "Running"),
)


def text() -> str:
    """All sentences, each under its code."""
    said = [(link.why.value, sentences.of(link), sentences.way_out(link)) for link in LINKS]
    return "".join(f"{code}\n    {sentence}\n" + (f"    > {way}\n" if way else "") for code, sentence, way in said)


def test_every_sentence_of_a_chain_reads_as_recorded() -> None:
    if os.environ.get("UPDATE_GOLDEN") == "1":
        GOLDEN.write_text(text(), encoding="utf-8")
    assert text() == GOLDEN.read_text(encoding="utf-8")


def test_every_code_has_its_sentence_in_the_golden_file() -> None:
    assert [link.why for link in LINKS] == list(dict.fromkeys(link.why for link in LINKS))
    assert {link.why for link in LINKS} == set(Why)
