"""Settings: environment over file, and one sentence for whatever cannot be used."""

from datetime import timedelta
from pathlib import Path

import pytest
from modeldeployment.admission import Policy
from modeldeployment.admission.webhook.configurations import Installation, Service
from modeldeployment.operator import Settings, SettingsError, load
from modeldeployment.render import Delivery
from modeldeployment.render import Policy as RenderPolicy


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    return file


def test_without_a_file_and_variables_every_setting_has_its_documented_default() -> None:
    settings = load(None)
    assert settings.instance_general_resources_overcommit is True
    assert settings.policy().resource_keys == {}
    assert settings.address() == ("127.0.0.1", 8080)


def test_the_file_spells_settings_as_the_documents_do(tmp_path: Path) -> None:
    settings = load(written(tmp_path, 'instance-general-resources-overcommit: "false"\nworkers: 3\n'))
    assert settings.policy().general_resources_overcommit is False
    assert settings.workers == 3


def test_the_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUSTACK_INSTANCE_GENERAL_RESOURCES_OVERCOMMIT", "true")
    settings = load(written(tmp_path, "instance-general-resources-overcommit: false\n"))
    assert settings.instance_general_resources_overcommit is True


def test_a_maker_s_resource_key_comes_from_its_own_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUSTACK_NVIDIA_ACCELERATABLE_RESOURCE_NAME", "example.com/gpu")
    assert load(None).policy().resource_keys == {"nvidia": "example.com/gpu"}


def test_an_empty_file_is_no_settings(tmp_path: Path) -> None:
    assert load(written(tmp_path, "# nothing yet\n")) == load(None)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("workres: 3\n", "there is no setting 'workres'; the settings are accelerator-resource-names, "),
        ("workers: many\n", "setting workers is 'many': Input should be a valid integer"),
        ("workers: 0\n", "setting workers is 0: Input should be greater than or equal to 1"),
        ("log-level: loud\n", "setting log-level is 'loud': Input should be 'debug', 'info', 'warning' or 'error'"),
        ("- workers\n", "holds a list: write one `name: value` a line"),
        ("workers: [\n", "is no YAML"),
        (
            "accelerator-resource-names: {acme: a/b}\n",
            "accelerator-resource-names has 'acme': no such maker; use one of",
        ),
        ("accelerator-resource-names: gpu\n", "accelerator-resource-names is 'gpu': write one `maker: key` a line"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_with_name_value_and_way_out(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        load(written(tmp_path, text))
    assert says in str(refused.value)


def test_a_missing_file_is_refused_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"settings file .*absent\.yaml: No such file or directory; mount it"):
        load(tmp_path / "absent.yaml")


@pytest.mark.parametrize("listen", ["8080", "localhost:", "127.0.0.1:99999", "127.0.0.1:http"])
def test_an_address_that_is_no_host_and_port_is_refused(listen: str) -> None:
    with pytest.raises(SettingsError, match="it must be HOST:PORT"):
        Settings(listen=listen).address()


def test_nothing_is_installed_where_nothing_leads_to_the_webhook() -> None:
    assert load(None).webhook() is None


def test_a_url_leads_to_the_webhook() -> None:
    plan = Settings(webhook_url="https://10.0.0.7:9443", leader_namespace="gpustack").webhook()
    assert plan is not None
    assert plan.listen == ("127.0.0.1", 9443)
    assert plan.installation == Installation("https://10.0.0.7:9443", (), "gpustack-worker")
    assert plan.installation.names == ("10.0.0.7",)
    assert plan.namespace == "gpustack"
    timing = plan.timing
    assert (timing.lifetime, timing.early, timing.settle) == (
        timedelta(days=90),
        timedelta(days=30),
        timedelta(minutes=1),
    )


@pytest.mark.parametrize(
    ("written", "service", "name"),
    [
        ("hook", Service("hook", "gpustack", 443), "hook.gpustack.svc"),
        ("other/hook", Service("hook", "other", 443), "hook.other.svc"),
        ("other/hook:8443", Service("hook", "other", 8443), "hook.other.svc"),
    ],
)
def test_a_service_leads_to_the_webhook(written: str, service: Service, name: str) -> None:
    plan = Settings(webhook_service=written, leader_namespace="gpustack").webhook()
    assert plan is not None
    assert plan.installation.reach == service
    assert plan.installation.names == (name,)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (
            {"webhook_url": "https://a", "webhook_service": "b"},
            "webhook-url is 'https://a' and webhook-service 'b': API servers take one way; leave one of them out",
        ),
        (
            {"webhook_url": "http://a"},
            "webhook-url is 'http://a': it must be https://HOST:PORT, such as https://127.0.0.1:9443",
        ),
        (
            {"webhook_service": "a/b/c"},
            "webhook-service is 'a/b/c': it must be [NAMESPACE/]NAME[:PORT], such as gpustack/operator-webhook",
        ),
        (
            {"webhook_url": "https://a", "webhook_listen": "9443"},
            "webhook-listen is '9443': it must be HOST:PORT, such as 127.0.0.1:9443",
        ),
    ],
)
def test_a_way_to_the_webhook_that_cannot_be_used_is_refused(settings: dict[str, str], says: str) -> None:
    with pytest.raises(SettingsError) as refused:
        Settings.model_validate(settings).webhook()
    assert str(refused.value) == says


@pytest.mark.parametrize("written", ["a,b", "a, b,", '["a", "b"]'])
def test_a_list_in_the_environment_is_spelt_with_commas_or_as_json(
    written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUSTACK_WEBHOOK_NAMESPACES", written)
    assert load(None).webhook_namespaces == ("a", "b")


def test_a_list_in_the_file_is_a_list(tmp_path: Path) -> None:
    settings = load(written(tmp_path, "webhook-operator-users: [ci, gitops]\nwebhook-url: https://a:1\n"))
    plan = settings.webhook()
    assert plan is not None
    assert plan.operators == {"ci", "gitops"}


def test_what_admission_reads_is_off_unless_an_administrator_turns_it_on(tmp_path: Path) -> None:
    assert load(None).admission_policy() == Policy()
    text = (
        "model-deployment-kv-cache-dtype-owned: false\n"
        "instance-privileged-allowed: true\n"
        "instance-host-path-volume-allowed: true\n"
        "model-deployment-tcp-tw-reuse: true\n"
    )
    assert load(written(tmp_path, text)).admission_policy() == Policy(
        kv_cache_dtype_owned=False, privileged_allowed=True, host_path_allowed=True, reuse_time_wait=True
    )


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("5", "it is a list of names"),
        ("'[a'", "it begins like a list and is none"),
        ("{a: b}", "it is a list of names"),
    ],
)
def test_what_is_no_list_of_names_is_refused(tmp_path: Path, written: str, says: str) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(f"webhook-namespaces: {written}\n")
    with pytest.raises(SettingsError, match=says):
        load(file)


def test_every_setting_of_rendering_has_the_documented_default() -> None:
    assert load(None).policy() == RenderPolicy(
        general_resources_overcommit=True,
        resource_keys={},
        router_image="gpustack/llm-router:v0.1.0",
        router_proxy_image="gpustack/mirrored-envoy:distroless-v1.33.2",
        routing_sidecar_image="gpustack/mirrored-llm-d-router-disagg-sidecar:v0.10.0",
        registry="",
        registry_namespace="",
        dtype_owned=True,
        reuse_time_wait=False,
        delivery=Delivery.ENGINE,
        hugging_face_endpoint="https://huggingface.co",
        model_scope_endpoint="https://www.modelscope.cn",
        https_proxy="",
        no_proxy="",
    )


def test_settings_of_rendering_are_taken_from_the_file_under_the_documented_names(tmp_path: Path) -> None:
    text = """
model-deployment-router-image: registry.example/team/router:v9
model-deployment-router-proxy-image: envoy@sha256:0000000000000000000000000000000000000000000000000000000000000000
model-deployment-routing-sidecar-image: localhost:5000/sidecar
model-deployment-tcp-tw-reuse: true
model-deployment-kv-cache-dtype-owned: false
container-registry: mirror.example:5000
container-namespace: mirrors/gpustack
model-artifact-delivery-mode: Node
model-artifact-huggingface-endpoint: https://hf.example/hub
model-artifact-modelscope-endpoint: http://ms.example:8080
model-artifact-https-proxy: http://proxy.example:3128
model-artifact-no-proxy: .svc,10.0.0.0/8
"""
    assert load(written(tmp_path, text)).policy() == RenderPolicy(
        router_image="registry.example/team/router:v9",
        router_proxy_image=f"envoy@sha256:{'0' * 64}",
        routing_sidecar_image="localhost:5000/sidecar",
        registry="mirror.example:5000",
        registry_namespace="mirrors/gpustack",
        dtype_owned=False,
        reuse_time_wait=True,
        delivery=Delivery.NODE,
        hugging_face_endpoint="https://hf.example/hub",
        model_scope_endpoint="http://ms.example:8080",
        https_proxy="http://proxy.example:3128",
        no_proxy=".svc,10.0.0.0/8",
    )


def test_the_environment_names_them_in_capitals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUSTACK_MODEL_DEPLOYMENT_ROUTER_IMAGE", "other/router:v2")
    assert load(None).policy().router_image == "other/router:v2"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("model-deployment-router-image: ''", "setting model-deployment-router-image is '': it must be an image"),
        ("model-deployment-router-proxy-image: a b", "is 'a b': it must be an image reference, such as registry"),
        ("model-deployment-routing-sidecar-image: https://a/b", "it must be an image reference"),
        ("model-deployment-tcp-tw-reuse: perhaps", "setting model-deployment-tcp-tw-reuse is 'perhaps'"),
        ("container-registry: https://mirror", "container-registry is 'https://mirror': it must be HOST or HOST:PORT"),
        ("container-registry: mirror/path", "it must be HOST or HOST:PORT without a scheme or a path"),
        (
            "container-namespace: /mirrors",
            "setting container-namespace is '/mirrors': it must be a repository's folder",
        ),
        (
            "model-artifact-delivery-mode: Pigeon",
            "model-artifact-delivery-mode is 'Pigeon': Input should be 'Engine' or",
        ),
        ("model-artifact-huggingface-endpoint: huggingface.co", "it must be http://HOST or https://HOST"),
        ("model-artifact-modelscope-endpoint: 'ftp://a'", "setting model-artifact-modelscope-endpoint is 'ftp://a'"),
        (
            "model-artifact-https-proxy: proxy:3128",
            "setting model-artifact-https-proxy is 'proxy:3128': it must be http",
        ),
        ("model-artifact-no-proxy: 'a, b'", "setting model-artifact-no-proxy is 'a, b': it must be names and networks"),
    ],
)
def test_a_setting_of_rendering_that_cannot_be_used_is_refused_by_name_value_and_way_out(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        load(written(tmp_path, text + "\n"))
    assert says in str(refused.value)
    assert "; correct it in " in str(refused.value)
