"""The webhook as users and administrators meet it."""

import base64
import socket
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from e2e_installed import Hooks
from e2e_operators import free_port, run_once
from modeldeployment.admission.webhook import certificates, wire
from modeldeployment.admission.webhook.certificates import Draw
from modeldeployment.admission.webhook.configurations import SHAPES, Half, Installation
from modeldeployment.kube import Invalid, PatchType, custom

pytestmark = pytest.mark.lab

OTHER = base64.b64encode(
    certificates.issue(
        ("127.0.0.1",),
        datetime.now(UTC),
        timedelta(days=1),
        Draw(ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1()), (1, 2)),
    ).authority
).decode()
"""An authority that vouches for nothing here."""

TEN: Final = (
    ("MD035", "spec.roles[0].resources.accelerator"),
    ("MD028", "spec.roles[0].privileged"),
    ("MD028", "spec.roles[0].additionalVolumes[0].hostPath"),
    ("MD018", "spec.roles[0].additionalVolumes[1].mountPath"),
    ("MD018", "spec.roles[0].additionalVolumes[1].subPath"),
    ("MD029", "spec.roles[0].extraArgs"),
    ("MD031", "spec.roles[0].extraArgs"),
    ("MD012", "spec.roles[0].extraArgs[0]"),
    ("MD013", "spec.roles[0].env[0]"),
    ("MD013", "spec.roles[0].env[1]"),
)
"""Codes and fields of what is wrong below."""


def ten_wrong_fields(hooks: Hooks) -> dict[str, Any]:
    """A deployment with one mistake a field."""
    return hooks.world.manifest(
        "chat",
        privileged=True,
        extraArgs=["--kv-transfer-config={}", "--served-model-name=other", "--port=9000"],
        env=[{"name": name, "value": "x"} for name in ("MOONCAKE_CONFIG_PATH", "GPUSTACK_REPLICA_SIZE")],
        ports=[{"port": 8000}],
        resources={"accelerator": 99},
        additionalVolumes=[
            {"mountPath": "/data", "hostPath": {"path": "/srv"}},
            {"mountPath": "/data", "subPath": "../etc", "secret": {"name": "own"}},
        ],
    )


async def test_it_installs_both_halves_for_both_kinds_by_url(hooks: Hooks) -> None:
    operator = await hooks.called()
    authorities = base64.b64encode((await hooks.material())["ca.crt"]).decode()
    for half, verb in ((Half.MUTATE, "mutate"), (Half.VALIDATE, "validate")):
        found = await hooks.configuration(half)
        assert (
            found.metadata.name
            == {"mutate": "gpustack-worker-mutation", "validate": "gpustack-worker-validation"}[verb]
        )
        assert [each["name"] for each in found.webhooks] == [
            f"{verb}.worker.gpustack.ai.v1.modeldeployment",
            f"{verb}.worker.gpustack.ai.v1.modeldeploymentscaler",
        ]
        for each, kind in zip(found.webhooks, ("modeldeployment", "modeldeploymentscaler"), strict=True):
            assert each["clientConfig"] == {
                "url": f"{hooks.url}/{verb}-worker-gpustack-ai-v1-{kind}",
                "caBundle": authorities,
            }
            assert each["rules"] == [
                {
                    "apiGroups": ["worker.gpustack.ai"],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE", "UPDATE"],
                    "resources": [f"{kind}s"],
                    "scope": "Namespaced",
                }
            ]
            kept = ("failurePolicy", "matchPolicy", "sideEffects", "timeoutSeconds", "admissionReviewVersions")
            assert [each[name] for name in kept] == ["Fail", "Equivalent", "None", 10, ["v1"]]
    assert operator.get("/readyz") == (200, "ok\n")
    assert operator.metric(
        'modeldeployment_webhook_reviews_total{allowed="false",half="validate",kind="ModelDeployment"}'
    )
    assert operator.metric('modeldeployment_webhook_findings_total{code="MD028"}') >= 1
    assert operator.metric('modeldeployment_webhook_review_seconds_count{half="mutate"}') >= 2
    assert operator.metric("modeldeployment_webhook_certificate_end_seconds") > 0


async def test_it_installs_itself_behind_a_service_with_a_certificate_for_its_name(hooks: Hooks) -> None:
    operator = hooks.start(GPUSTACK_WEBHOOK_SERVICE="gpustack/operator-webhook:8443")
    await operator.ready()
    for half in Half:
        (address, _) = [each["clientConfig"] for each in (await hooks.configuration(half)).webhooks]
        assert address["service"] == {
            "namespace": "gpustack",
            "name": "operator-webhook",
            "port": 8443,
            "path": f"/{half}-worker-gpustack-ai-v1-modeldeployment",
        }
    certificate = x509.load_pem_x509_certificate((await hooks.material())["tls.crt"])
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["operator-webhook.gpustack.svc"]


async def test_the_key_is_in_the_secret_and_nowhere_in_the_log(hooks: Hooks) -> None:
    operator = await hooks.called(GPUSTACK_LOG_LEVEL="debug")
    secret = await hooks.world.whole(custom("", "v1", "secrets", "Secret"), "modeldeployment-webhook-certificate")
    assert secret["type"] == "kubernetes.io/tls"
    assert {"tls.crt", "tls.key", "ca.crt"} <= secret["data"].keys()
    key = base64.b64decode(secret["data"]["tls.key"]).decode()
    assert key.startswith("-----BEGIN PRIVATE KEY-----")
    assert [line for line in key.splitlines() if line in operator.log.read_text()] == []


async def test_ten_wrong_fields_are_refused_together_in_field_order(hooks: Hooks) -> None:
    await hooks.called()
    body = ten_wrong_fields(hooks)
    said = await hooks.world.apply(body)
    assert (said.code, said.out) == (1, "")
    pool, node, head, *lines = said.err.strip().splitlines()
    assert pool.startswith("Warning: MDW22 spec.roles[0].replicas: 99 whole accelerators are asked of ")
    assert node.startswith("Warning: MDW24 spec.roles[0].resources.accelerator: 99 whole accelerators are asked of ")
    assert head.strip() == 'The ModelDeployment "chat" is invalid:'
    assert [line.split(": ")[0].removeprefix("* ") for line in lines] == [field for _, field in TEN]
    assert [line.rpartition(" ")[2] for line in lines] == [f"({code})" for code, _ in TEN]

    error = await hooks.dry_run(body)
    assert isinstance(error, Invalid)
    assert (error.status, error.reason, error.details.kind, error.details.name) == (
        *(422, "Invalid"),
        *("ModelDeployment", "chat"),
    )
    causes = error.details.causes
    assert [cause.field for cause in causes[:10]] == [field for _, field in TEN]
    told = [wire.remedy(cause.reason) for cause in causes[10:]]
    assert [each.code for each in told if each] == [code for code, _ in TEN]
    assert all(each and each.way_out for each in told)
    assert [each.patch != () for each in told if each].count(True) >= 5


async def test_a_dry_run_is_judged_like_a_write_and_leaves_nothing(hooks: Hooks) -> None:
    await hooks.called()
    before = await hooks.material()
    good = hooks.world.manifest("chat")
    assert (await hooks.world.apply(good, "--dry-run=server")).code == 0
    assert (await hooks.world.apply(ten_wrong_fields(hooks), "--dry-run=server")).code == 1
    assert (await hooks.world.kubectl("get", "md", "-o", "name")).out == ""
    assert await hooks.material() == before


async def test_warnings_reach_whoever_applies(hooks: Hooks) -> None:
    await hooks.called()
    roles = [hooks.world.role("prefill", kind="Prefill"), hooks.world.role("decode", kind="Decode")]
    said = await hooks.world.apply(hooks.world.manifest(roles=roles), "--dry-run=server")
    assert said.code == 0, said.err
    assert said.err.startswith("Warning: MDW01 spec.router: ")


async def test_what_somebody_breaks_in_a_configuration_is_put_right(hooks: Hooks) -> None:
    await hooks.called()
    authorities = base64.b64encode((await hooks.material())["ca.crt"]).decode()
    for shape in SHAPES:
        name = Installation("").named(shape)
        wrong = [
            {"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": OTHER},
            {"op": "replace", "path": "/webhooks/1/failurePolicy", "value": "Ignore"},
        ]
        await hooks.world.client.patch(shape.kind, name, wrong, how=PatchType.JSON)

    async def right() -> bool:
        found = [each for half in Half for each in (await hooks.configuration(half)).webhooks]
        return {(each["clientConfig"]["caBundle"], each["failurePolicy"]) for each in found} == {(authorities, "Fail")}

    await hooks.until(right, what="both configurations are right again")
    mutation = SHAPES[0]
    await hooks.world.client.delete(mutation.kind, Installation("").named(mutation))

    async def back() -> bool:
        said = await hooks.world.kubectl("get", str(mutation.kind), "-o", "name")
        return "gpustack-worker-mutation" in said.out

    await hooks.until(back, what="the deleted configuration is back")


async def test_a_webhook_address_in_use_is_one_sentence_and_exit_status_one(hooks: Hooks) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = await alone(hooks, GPUSTACK_WEBHOOK_LISTEN=address, GPUSTACK_WEBHOOK_URL="https://127.0.0.1:9443")
    assert ended == (
        1,
        (
            f"modeldeployment-operator: cannot listen on {address}: Address already in use; "
            "stop what holds it, or set GPUSTACK_WEBHOOK_LISTEN\n"
        ),
    )


async def test_a_webhook_that_nothing_leads_to_is_one_sentence_and_exit_status_one(hooks: Hooks) -> None:
    assert await alone(hooks) == (
        1,
        (
            "modeldeployment-operator: the webhook cannot be installed: nothing leads to it; "
            "set webhook-url or webhook-service\n"
        ),
    )


async def test_client_authorities_that_are_not_there_are_one_sentence_and_exit_status_one(hooks: Hooks) -> None:
    absent = str(hooks.folder / "absent.pem")
    settings = {"GPUSTACK_WEBHOOK_CLIENT_CA_FILE": absent, "GPUSTACK_WEBHOOK_URL": "https://127.0.0.1:9443"}
    code, said = await alone(hooks, **settings)
    assert code == 1
    assert said.startswith(
        f"modeldeployment-operator: webhook-client-ca-file: client authorities {absent} cannot be used"
    )
    assert len(said.splitlines()) == 1


async def alone(hooks: Hooks, **settings: str) -> tuple[int, str]:
    """Exit status and standard error of a webhook that ends by itself."""
    listen = {"GPUSTACK_LISTEN": f"127.0.0.1:{free_port()}"}
    ended = await run_once(
        "run", "--kubeconfig", str(hooks.kubeconfig), "--only=webhook", settings={**listen, **settings}
    )
    return ended.returncode, ended.stderr
