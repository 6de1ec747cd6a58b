"""The webhook through rotations, failing replicas and its own absence."""

import asyncio

import pytest
from cryptography import x509
from e2e_board import ready
from e2e_installed import Hooks
from e2e_operators import Operator, free_port
from modeldeployment.admission.webhook.configurations import SHAPES, Installation
from modeldeployment.kube import PatchType, ServerFailure
from modeldeployment.kube.kinds import LEASES, PODS
from modeldeployment.reconcile import DEPLOYMENTS

pytestmark = pytest.mark.lab


async def test_a_certificate_is_rotated_under_a_stream_of_writes_without_one_failed_call(hooks: Hooks) -> None:
    await hooks.called(GPUSTACK_WEBHOOK_CERTIFICATE_SECONDS="24", GPUSTACK_WEBHOOK_SETTLE_SECONDS="2")
    first = await hooks.material()
    answers: list[str] = []
    rotated = asyncio.Event()

    async def write() -> None:
        while not rotated.is_set():
            error = await hooks.dry_run(hooks.world.manifest("chat"))
            answers.append(str(error) if error else "")

    async def over() -> bool:
        now = await hooks.material()
        only_new = len(x509.load_pem_x509_certificates(now["ca.crt"])) == 1
        return only_new and now["tls.crt"] != first["tls.crt"] and now["ca.crt"] not in first["ca.crt"]

    async with asyncio.TaskGroup() as group:
        for _ in range(2):
            group.create_task(write())
        await hooks.until(over, what="a new certificate is served and the old authority is forgotten")
        count = len(answers)
        await hooks.until(lambda: _reached(answers, count + 10), what="writes go on afterwards")
        rotated.set()
    assert set(answers) == {""}


async def test_two_replicas_agree_on_one_authority_and_the_second_goes_on_alone(hooks: Hooks) -> None:
    first, second = hooks.start(), hooks.start()
    for each in (first, second):
        await each.ready()
    served = (await hooks.material())["tls.crt"]
    assert [await hooks.served(each) for each in (first, second)] == [served] * 2

    writer = await _writer(hooks)
    other = second if writer is first else first
    writer.kill()
    validation = SHAPES[1]
    wrong = [{"op": "replace", "path": "/webhooks/0/timeoutSeconds", "value": 3}]
    name = Installation("").named(validation)
    await hooks.world.client.patch(validation.kind, name, wrong, how=PatchType.JSON)

    async def right() -> bool:
        found = await hooks.configuration(validation.half)
        return bool(found.webhooks[0]["timeoutSeconds"] == 10)

    await hooks.until(right, what="the other replica repairs the configuration")
    assert await hooks.served(other) == served
    assert other.get("/readyz") == (200, "ok\n")


async def test_without_its_webhook_replicas_keep_serving_writes_are_refused_and_a_restart_heals(hooks: Hooks) -> None:
    port = free_port()
    hook = await hooks.called(port=port)
    controllers = hooks.start("controllers")
    await controllers.leading()
    world = hooks.world
    await world.create("chat", replicas=2)
    await world.settled("chat")
    before = (await world.whole(DEPLOYMENTS, "chat"))["status"]
    hook.kill()

    with pytest.raises(ServerFailure, match="failed calling webhook"):
        await world.edit("chat", "/spec/roles/0/replicas", 3)
    said = await world.apply(world.manifest("other"))
    assert said.code == 1
    assert "mutate.worker.gpustack.ai.v1.modeldeployment" in said.err
    assert (await world.whole(DEPLOYMENTS, "chat"))["status"] == before
    assert sum(map(ready, world.board.all_pods("chat"))) == 2

    lost = world.board.all_pods("chat")[0].metadata
    await world.client.delete(PODS, lost.name, world.namespace, grace_seconds=0)
    await world.board.until(
        lambda: lost.uid not in {p.metadata.uid for p in world.board.all_pods("chat")}, what="it goes"
    )
    await world.settled("chat")

    await hooks.called(port=port)
    await world.scale("chat", 3)
    await world.settled("chat")
    assert sum(map(ready, world.board.all_pods("chat"))) == 3


async def test_one_process_reviews_what_it_writes_itself(hooks: Hooks) -> None:
    operator = await hooks.called("webhook", "controllers")
    await hooks.world.create("chat", replicas=1)
    await hooks.world.settled("chat")
    await hooks.world.delete("chat")
    await hooks.world.gone("chat")
    assert await operator.stop(within=20) == 0


async def _writer(hooks: Hooks) -> Operator:
    """The replica that holds the webhook's Lease."""
    lease = await hooks.world.client.get(LEASES, "modeldeployment-webhook", hooks.world.namespace)
    return next(each for each in hooks.started if f"_{each.process.pid}_" in lease.spec.holder_identity)


async def _reached(answers: list[str], count: int) -> bool:
    return len(answers) >= count
