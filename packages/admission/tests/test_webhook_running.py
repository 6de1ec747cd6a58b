"""What keeps the webhook callable, before an API server on a real socket."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from admission_api_server import ApiServer, api_server
from admission_https import NAMESPACE, calling, trusting
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from modeldeployment.admission import Policy
from modeldeployment.admission.errors import ListenError
from modeldeployment.admission.examples import CLUSTER, DEPLOYMENT
from modeldeployment.admission.webhook import Plan, Webhook
from modeldeployment.admission.webhook.certificates import Timing
from modeldeployment.admission.webhook.configurations import (
    SHAPES,
    Configuration,
    Installation,
    Service,
    configuration,
    in_place,
)
from modeldeployment.kube.shapes import ObjectMeta

SECRET = f"/api/v1/namespaces/{NAMESPACE}/secrets"
HERE = Installation("https://127.0.0.1:9443", ("team-b", "team-a"), "gpustack-worker")


def held(server: ApiServer) -> dict[str, Any]:
    found: dict[str, Any] = server.objects[f"{SECRET}/modeldeployment-webhook-certificate"]
    return found


def test_a_configuration_may_be_limited_to_namespaces() -> None:
    (webhook, _) = configuration(HERE, SHAPES[0], b"authority")["webhooks"]
    assert webhook["namespaceSelector"] == {
        "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["team-a", "team-b"]}]
    }


def test_the_mutating_configuration_comes_before_kueue_s_in_the_alphabet() -> None:
    assert Installation("").named(SHAPES[0]) < "kueue-mutating-webhook-configuration"


def test_a_service_is_named_with_its_port_and_path() -> None:
    installation = Installation(Service("hook", "gpustack", 8443))
    (_, webhook) = configuration(installation, SHAPES[1], b"authority")["webhooks"]
    assert webhook["clientConfig"] == {
        "service": {
            "name": "hook",
            "namespace": "gpustack",
            "port": 8443,
            "path": "/validate-worker-gpustack-ai-v1-modeldeploymentscaler",
        },
        "caBundle": "YXV0aG9yaXR5",
    }


def test_a_configuration_is_in_place_whatever_others_added_and_not_when_a_field_of_ours_differs() -> None:
    wanted = configuration(HERE, SHAPES[0], b"authority")
    ours = wanted["webhooks"]
    grown = [{**each, "objectSelector": {}, "reinvocationPolicy": "Never"} for each in ours]
    metadata = ObjectMeta(name="gpustack-worker-mutation")

    def found(*webhooks: dict[str, Any]) -> bool:
        return in_place(wanted, Configuration(metadata=metadata, webhooks=list(webhooks)))

    assert found({"name": "somebody.else.s"}, *reversed(grown))
    assert not found()
    assert not found(ours[0])
    assert not found({**ours[0], "failurePolicy": "Ignore"}, ours[1])
    assert not found({**ours[0], "clientConfig": {**ours[0]["clientConfig"], "caBundle": ""}}, ours[1])
    assert not found({**ours[0], "namespaceSelector": {}}, ours[1])


async def test_replicas_that_start_together_serve_one_certificate() -> None:
    async with api_server(*CLUSTER) as server, calling(server) as first, calling(server) as second:
        assert (await second.review(DEPLOYMENT))["allowed"] is True
        assert first.webhook.certificate_ends == second.webhook.certificate_ends
        assert held(server)["metadata"]["resourceVersion"] == "1"


async def test_a_replica_that_does_not_write_waits_for_one_that_does() -> None:
    plan = Plan(("127.0.0.1", 0), Installation("https://127.0.0.1:9443"), NAMESPACE)
    async with api_server(*CLUSTER) as server:
        reader = Webhook(plan, server.access, Policy(), writing=lambda: False)
        async with reader.running():
            await until(lambda: reader.waiting() == ("a webhook certificate", "the webhook configurations"))
            assert server.objects.keys().isdisjoint({f"{SECRET}/modeldeployment-webhook-certificate"})
            async with calling(server):
                await until(lambda: reader.waiting() == ())


async def test_a_secret_that_is_taken_away_is_replaced_by_another_without_one_failed_call() -> None:
    timing = Timing(settle=timedelta(seconds=0.2))
    async with api_server(*CLUSTER) as server, calling(server, timing=timing) as caller:
        before = held(server)["data"]
        del server.objects[f"{SECRET}/modeldeployment-webhook-certificate"]
        caller.webhook.look()
        calls_after = 0
        async with asyncio.timeout(20):
            while calls_after < 10:
                # A session of its own, so that every call shakes hands anew.
                async with aiohttp.ClientSession() as session:
                    again = replace(caller, session=session, trusting=trusting(server))
                    assert (await again.review(DEPLOYMENT))["allowed"] is True
                now = server.objects.get(f"{SECRET}/modeldeployment-webhook-certificate", {"data": before})["data"]
                calls_after += now["tls.crt"] != before["tls.crt"]


async def test_trouble_with_the_api_server_is_told_once_and_its_end_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    plan = Plan(("127.0.0.1", 0), Installation("https://127.0.0.1:9443"), NAMESPACE)
    async with api_server(*CLUSTER) as server:
        server.broken[f"{SECRET}/modeldeployment-webhook-certificate"] = 403
        webhook = Webhook(plan, server.access, Policy())
        async with webhook.running():
            await until(lambda: "webhook not kept" in caplog.messages)
            for _ in range(3):
                webhook.look()
                await asyncio.sleep(0.01)
            del server.broken[f"{SECRET}/modeldeployment-webhook-certificate"]
            await until(lambda: not webhook.waiting())
    assert caplog.messages.count("webhook not kept") == 1
    assert caplog.messages.count("webhook kept again") == 1


async def test_an_address_in_use_is_one_sentence() -> None:
    async with api_server(*CLUSTER) as server, calling(server) as caller:
        plan = Plan(("127.0.0.1", caller.webhook.port), Installation("https://127.0.0.1:9443"), NAMESPACE)
        with pytest.raises(ListenError, match=r"^cannot listen on 127\.0\.0\.1:\d+: Address already in use$"):
            async with Webhook(plan, server.access, Policy()).running():
                pass


async def test_where_callers_must_show_a_certificate_nobody_else_gets_an_answer(tmp_path: Path) -> None:
    authority, shown = signed_by_itself(tmp_path)
    async with api_server(*CLUSTER) as server, calling(server, client_authorities=authority) as caller:
        with pytest.raises((aiohttp.ClientError, ConnectionError)):
            await caller.review(DEPLOYMENT)
        caller.trusting.load_cert_chain(shown)
        assert (await caller.review(DEPLOYMENT))["allowed"] is True


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def signed_by_itself(folder: Path) -> tuple[Path, Path]:
    """A client certificate that is its own authority; the second file holds its key too."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "api-server")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 7)
        .not_valid_before(datetime.now(UTC) - timedelta(hours=1))
        .not_valid_after(datetime.now(UTC) + timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate = made.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    authority, shown = folder / "authority.pem", folder / "client.pem"
    authority.write_bytes(certificate)
    shown.write_bytes(certificate + secret)
    return authority, shown
