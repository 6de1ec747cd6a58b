"""The operator's settings: one model, read from the environment and from a mounted file.

Names are those of the documents (facts api-dependencies §7, decisions D22): `instance-general-resources-overcommit` in
the file is `GPUSTACK_INSTANCE_GENERAL_RESOURCES_OVERCOMMIT` in the environment. The environment wins over the file.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from modeldeployment.operator.errors import SettingsError
from modeldeployment.render import MAKERS, Policy

PREFIX = "GPUSTACK_"


def _spelt(name: str) -> str:
    return name.replace("_", "-")


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

    def policy(self) -> Policy:
        """The settings that rendering reads."""
        return Policy(
            general_resources_overcommit=self.instance_general_resources_overcommit,
            resource_keys=dict(self.accelerator_resource_names),
        )

    def address(self) -> tuple[str, int]:
        """Host and port of `listen`. Raises SettingsError where it is not HOST:PORT."""
        host, _, port = self.listen.rpartition(":")
        if not host or not port.isdigit() or int(port) > 65535:
            raise SettingsError(f"listen is {self.listen!r}: it must be HOST:PORT, such as 127.0.0.1:8080")
        return host, int(port)

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
        raise SettingsError(
            f"setting {name} is {first['input']!r}: {first['msg']}; correct it in {file or 'the environment'}"
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
