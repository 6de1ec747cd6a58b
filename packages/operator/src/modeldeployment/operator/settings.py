"""The operator's settings: one model, read from the environment and from a mounted file.

Names are those of the documents (facts api-dependencies §7, decisions D22): `instance-general-resources-overcommit` in
the file is `GPUSTACK_INSTANCE_GENERAL_RESOURCES_OVERCOMMIT` in the environment. The environment wins over the file.
"""

import os
import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from modeldeployment.admission import Policy as AdmissionPolicy
from modeldeployment.admission.webhook import Plan
from modeldeployment.admission.webhook.certificates import Timing
from modeldeployment.admission.webhook.configurations import PREFIX as PREFIX_OF_CONFIGURATIONS
from modeldeployment.admission.webhook.configurations import Installation, Service
from modeldeployment.kube import Timing as LeaseTiming
from modeldeployment.operator.errors import SettingsError
from modeldeployment.render import MAKERS, Delivery, Policy

PREFIX = "GPUSTACK_"

_DEFAULTS = Policy()

_HTTPS = re.compile(r"https://[^/\s?#]+(/[^\s?#]*)?")
_URL = re.compile(r"https?://[^/\s?#]+(/[^\s?#]*)?")
_REGISTRY = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*(:\d{1,5})?")
_FOLDER = re.compile(r"[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*")
_IMAGE = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9.-]*(:\d{1,5})?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*"
    r"(:[\w][\w.-]{0,127})?(@sha256:[0-9a-f]{64})?"
)
_SERVICE = re.compile(r"((?P<namespace>[a-z0-9-]{1,63})/)?(?P<name>[a-z0-9-]{1,63})(:(?P<port>\d{1,5}))?")


def _spelt(name: str) -> str:
    return name.replace("_", "-")


def _listed(value: Any) -> Any:
    """A list in the environment is spelt as JSON or with commas."""
    if isinstance(value, str) and value.startswith("["):
        try:
            value = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise ValueError(f"it begins like a list and is none ({error.__class__.__name__})") from error
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, list | tuple):
        raise ValueError("it is a list of names, such as [team-a, team-b]")  # noqa: TRY004 (pydantic's way)
    return value


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)]


def _image(value: str) -> str:
    if not _IMAGE.fullmatch(value):
        raise ValueError("it must be an image reference, such as registry.example/team/name:v1")
    return value


def _mirror(value: str) -> str:
    if value and not _REGISTRY.fullmatch(value):
        raise ValueError("it must be HOST or HOST:PORT without a scheme or a path, such as registry.example:5000")
    return value


def _folder(value: str) -> str:
    if value and not _FOLDER.fullmatch(value):
        raise ValueError("it must be a repository's folder in lower case, such as mirrors or mirrors/gpustack")
    return value


def _url(value: str) -> str:
    if value and not _URL.fullmatch(value):
        raise ValueError("it must be http://HOST or https://HOST, such as https://huggingface.co")
    return value


def _plain(value: str) -> str:
    if re.search(r"\s", value):
        raise ValueError("it must be names and networks with commas and no spaces, such as .svc,10.0.0.0/8")
    return value


Image = Annotated[str, AfterValidator(_image)]
Url = Annotated[str, AfterValidator(_url)]


class Settings(BaseSettings):
    """What an administrator can set. Unknown names in the file are refused; unknown variables are somebody else's."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid")

    instance_general_resources_overcommit: bool = Field(
        default=True, description="Let Pods request less CPU, memory and storage than their limits."
    )
    accelerator_resource_names: dict[str, str] = Field(
        default_factory=dict,
        description="A maker's resource key, by maker name; GPUSTACK_<MAKER>_ACCELERATABLE_RESOURCE_NAME sets it too.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="Least level logged.")
    log_format: Literal["json", "console"] = Field(default="json", description="One JSON object a line, or for people.")
    listen: str = Field(default="127.0.0.1:8080", description="Address of /metrics, /healthz and /readyz.")
    workers: int = Field(default=8, ge=1, le=256, description="Deployments reconciled side by side.")
    requests: int = Field(default=64, ge=1, le=1024, description="Requests to the API server in flight at once.")
    leader_election: bool = Field(default=True, description="Take the Lease before writing anything.")
    leader_namespace: str = Field(default="default", description="Namespace of the Lease.")
    lease_seconds: float = Field(default=15.0, gt=1, description="How long a silent leader keeps the Lease.")

    model_deployment_kv_cache_dtype_owned: bool = Field(
        default=True,
        description="Write --kv-cache-dtype beside a cache, as its binding says it, and refuse a user's own.",
    )
    model_deployment_router_image: Image = Field(
        default=_DEFAULTS.router_image, description="Image of every router's program."
    )
    model_deployment_router_proxy_image: Image = Field(
        default=_DEFAULTS.router_proxy_image, description="Image of the proxy in front of llm-d-router's picker."
    )
    model_deployment_routing_sidecar_image: Image = Field(
        default=_DEFAULTS.routing_sidecar_image, description="Image of the routing proxy of Decode Pods."
    )
    model_deployment_tcp_tw_reuse: bool = Field(
        default=_DEFAULTS.reuse_time_wait, description="Let Prefill Pods of SGLang pairs reuse ports in TIME-WAIT."
    )
    container_registry: Annotated[str, AfterValidator(_mirror)] = Field(
        default="",
        description="Registry the operator's own default images are pulled from; empty: where they are published.",
    )
    container_namespace: Annotated[str, AfterValidator(_folder)] = Field(
        default="", description="Folder there that stands in place of the published one."
    )
    model_artifact_delivery_mode: Delivery = Field(
        default=_DEFAULTS.delivery, description="Who brings the weights of a hub: the engine, or the node."
    )
    model_artifact_huggingface_endpoint: Url = Field(
        default=_DEFAULTS.hugging_face_endpoint, description="Hugging Face, or its mirror."
    )
    model_artifact_modelscope_endpoint: Url = Field(
        default=_DEFAULTS.model_scope_endpoint, description="ModelScope, or its mirror."
    )
    model_artifact_https_proxy: Url = Field(default="", description="Proxy of engines that download weights.")
    model_artifact_no_proxy: Annotated[str, AfterValidator(_plain)] = Field(
        default="", description="What they reach without it."
    )
    instance_privileged_allowed: bool = Field(default=False, description="Let roles run privileged.")
    instance_host_path_volume_allowed: bool = Field(default=False, description="Let roles mount paths of the host.")

    scaler_journal_dir: Path | None = Field(
        default=None, description="Directory that every pass of every scaler is recorded in; unset: none is."
    )
    scaler_journal_file_bytes: int = Field(
        default=64 * 2**20, ge=2**16, description="A file of the journal is ended before it grows beyond this."
    )
    scaler_journal_files: int = Field(
        default=8, ge=2, le=10_000, description="Files of the journal that are kept; the oldest goes first."
    )
    scaler_journal_passes: int = Field(
        default=60, ge=0, le=100_000, description="Passes of each scaler kept in memory, for kubectl md why."
    )

    webhook_listen: str = Field(default="127.0.0.1:9443", description="Address of the admission webhook.")
    webhook_url: str = Field(default="", description="Where API servers reach it, such as https://127.0.0.1:9443.")
    webhook_service: str = Field(
        default="", description="Or the Service that leads to it: [NAMESPACE/]NAME[:PORT]; port 443 where none is said."
    )
    webhook_client_ca_file: Path | None = Field(
        default=None, description="Authorities (PEM) one of which must have signed the caller's certificate."
    )
    webhook_operator_users: Names = Field(
        default=(), description="User names whose writes count as the operator's, beside its own."
    )
    webhook_namespaces: Names = Field(default=(), description="Review writes in these namespaces alone; empty: in all.")
    webhook_configuration_prefix: str = Field(
        default=PREFIX_OF_CONFIGURATIONS, description="How the names of both webhook configurations begin."
    )
    webhook_certificate_seconds: float = Field(
        default=90 * 86400.0, ge=10, description="Life of a certificate; the next is made when a third of it is left."
    )
    webhook_settle_seconds: float = Field(
        default=60.0,
        ge=1,
        description="How long each step of a rotation waits until everybody has learnt the one before.",
    )

    def policy(self) -> Policy:
        """The settings that rendering reads."""
        return Policy(
            general_resources_overcommit=self.instance_general_resources_overcommit,
            resource_keys=dict(self.accelerator_resource_names),
            router_image=self.model_deployment_router_image,
            router_proxy_image=self.model_deployment_router_proxy_image,
            routing_sidecar_image=self.model_deployment_routing_sidecar_image,
            registry=self.container_registry,
            registry_namespace=self.container_namespace,
            dtype_owned=self.model_deployment_kv_cache_dtype_owned,
            reuse_time_wait=self.model_deployment_tcp_tw_reuse,
            delivery=self.model_artifact_delivery_mode,
            hugging_face_endpoint=self.model_artifact_huggingface_endpoint,
            model_scope_endpoint=self.model_artifact_modelscope_endpoint,
            https_proxy=self.model_artifact_https_proxy,
            no_proxy=self.model_artifact_no_proxy,
        )

    def address(self) -> tuple[str, int]:
        """Host and port of `listen`. Raises SettingsError where it is not HOST:PORT."""
        return _address("listen", self.listen)

    def timing(self) -> LeaseTiming:
        """How Leases are kept."""
        lease = self.lease_seconds
        return LeaseTiming(lease=lease, deadline=lease * 2 / 3, renew=lease * 2 / 15)

    def admission_policy(self) -> AdmissionPolicy:
        """The settings that admission reads."""
        return AdmissionPolicy(
            kv_cache_dtype_owned=self.model_deployment_kv_cache_dtype_owned,
            privileged_allowed=self.instance_privileged_allowed,
            host_path_allowed=self.instance_host_path_volume_allowed,
            reuse_time_wait=self.model_deployment_tcp_tw_reuse,
        )

    def webhook(self) -> Plan | None:
        """What is to be done about the webhook; None where neither a URL nor a Service leads to it.

        Raises SettingsError for what cannot be used.
        """
        reach = self._reach()
        if reach is None:
            return None
        lifetime = timedelta(seconds=self.webhook_certificate_seconds)
        return Plan(
            listen=_address("webhook-listen", self.webhook_listen),
            installation=Installation(reach, self.webhook_namespaces, self.webhook_configuration_prefix),
            namespace=self.leader_namespace,
            operators=frozenset(self.webhook_operator_users),
            client_authorities=self.webhook_client_ca_file,
            timing=Timing(lifetime, early=lifetime / 3, settle=timedelta(seconds=self.webhook_settle_seconds)),
        )

    def _reach(self) -> Service | str | None:
        if self.webhook_url and self.webhook_service:
            raise SettingsError(
                f"webhook-url is {self.webhook_url!r} and webhook-service {self.webhook_service!r}: "
                "API servers take one way; leave one of them out"
            )
        if self.webhook_service:
            return _service(self.webhook_service, self.leader_namespace)
        if self.webhook_url and not _HTTPS.fullmatch(self.webhook_url):
            raise SettingsError(
                f"webhook-url is {self.webhook_url!r}: it must be https://HOST:PORT, such as https://127.0.0.1:9443"
            )
        return self.webhook_url or None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 (the names are the library's)
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment wins over the file, which arrives as keyword arguments."""
        return env_settings, init_settings


def _address(name: str, value: str) -> tuple[str, int]:
    host, _, port = value.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        default = Settings.model_fields[name.replace("-", "_")].default
        raise SettingsError(f"{name} is {value!r}: it must be HOST:PORT, such as {default}")
    return host, int(port)


def _service(value: str, namespace: str) -> Service:
    found = _SERVICE.fullmatch(value)
    if found is None:
        raise SettingsError(
            f"webhook-service is {value!r}: it must be [NAMESPACE/]NAME[:PORT], such as gpustack/operator-webhook"
        )
    return Service(found["name"], found["namespace"] or namespace, int(found["port"] or 443))


def load(file: Path | None) -> Settings:
    """Read the settings from the process's environment and a file.

    Raises SettingsError that names the setting, its value, why, and the way out.
    """
    written = _file(file)
    named = written.pop("accelerator-resource-names", {})
    if not isinstance(named, dict):
        raise SettingsError(
            f"accelerator-resource-names is {named!r}: write one `maker: key` a line; correct it in {file}"
        )
    keys = {**named, **_resource_keys(os.environ)}
    unknown = sorted(set(keys) - set(MAKERS))
    if unknown:
        raise SettingsError(
            f"accelerator-resource-names has {unknown[0]!r}: no such maker; use one of {', '.join(sorted(MAKERS))}"
        )
    known = {_spelt(name): name for name in Settings.model_fields}
    fields: dict[str, Any] = {known.get(name, name): value for name, value in written.items()}
    try:
        return Settings(**fields, accelerator_resource_names=keys)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = _spelt(str(first["loc"][0]))
        if first["type"] == "extra_forbidden":
            raise SettingsError(
                f"{file}: there is no setting {name!r}; the settings are {', '.join(sorted(known))}"
            ) from error
        why = first["msg"].removeprefix("Value error, ")
        raise SettingsError(
            f"setting {name} is {first['input']!r}: {why}; correct it in {file or 'the environment'}"
            f" ({PREFIX}{str(first['loc'][0]).upper()})"
        ) from error


def _resource_keys(environment: Mapping[str, str]) -> dict[str, str]:
    """The makers' keys that the environment overrides."""
    names = {maker: f"{PREFIX}{maker.upper()}_ACCELERATABLE_RESOURCE_NAME" for maker in MAKERS}
    return {maker: environment[name] for maker, name in names.items() if environment.get(name)}


def _file(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        written = yaml.safe_load(file.read_text())
    except OSError as error:
        raise SettingsError(f"settings file {file}: {error.strerror}; mount it, or leave --settings out") from error
    except yaml.YAMLError as error:
        raise SettingsError(f"settings file {file} is no YAML: {error}; correct it") from error
    if written is None:
        return {}
    if not isinstance(written, dict):
        raise SettingsError(f"settings file {file} holds a {type(written).__name__}: write one `name: value` a line")
    return {str(name): value for name, value in written.items()}
