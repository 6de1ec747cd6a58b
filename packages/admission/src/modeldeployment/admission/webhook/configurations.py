"""The two webhook configurations as objects, and whether the ones in the cluster are as they must be.

Source: facts admission §1.
"""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from modeldeployment.admission.webhook.wire import VERSION as REVIEW_VERSION
from modeldeployment.api import ModelDeployment, keys
from modeldeployment.api.scaler import ModelDeploymentScaler
from modeldeployment.kube import Kind, shapes

PREFIX: Final = "gpustack-worker"
"""How the names of both configurations begin; before Kueue's in the alphabet, since mutations run in that order."""

TIMEOUT_SECONDS: Final = 10
NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"


class Half(StrEnum):
    """The two halves of admission; the value begins their paths and names."""

    MUTATE = "mutate"
    VALIDATE = "validate"


PLURALS: Final[Mapping[str, str]] = {
    ModelDeployment.__name__: "modeldeployments",
    ModelDeploymentScaler.__name__: "modeldeploymentscalers",
}
"""The kinds whose writes come to us."""


class Configuration(shapes.Object, frozen=True):
    """A webhook configuration as the API server holds it."""

    webhooks: list[dict[str, Any]] = msgspec.field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Shape:
    """What the two kinds of configuration differ in."""

    half: Half
    kind: Kind[Configuration]
    suffix: str


def _kind(plural: str, name: str) -> Kind[Configuration]:
    return Kind("admissionregistration.k8s.io", "v1", plural, name, Configuration, namespaced=False)


SHAPES: Final = (
    Shape(Half.MUTATE, _kind("mutatingwebhookconfigurations", "MutatingWebhookConfiguration"), "mutation"),
    Shape(Half.VALIDATE, _kind("validatingwebhookconfigurations", "ValidatingWebhookConfiguration"), "validation"),
)


@dataclass(frozen=True, slots=True)
class Service:
    """The Service that leads to the webhook; `port` is the Service's."""

    name: str
    namespace: str
    port: int = 443


@dataclass(frozen=True, slots=True)
class Installation:
    """How API servers reach the webhook: through a Service, or at a URL such as `https://127.0.0.1:9443`.

    `namespaces` limits it to those; empty means every namespace. `prefix` begins the names of the configurations.
    """

    reach: Service | str
    namespaces: tuple[str, ...] = ()
    prefix: str = PREFIX

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the certificate must be for."""
        if isinstance(self.reach, Service):
            return (f"{self.reach.name}.{self.reach.namespace}.svc",)
        return (urlsplit(self.reach).hostname or self.reach,)

    def named(self, shape: Shape) -> str:
        """The name of one of the configurations."""
        return f"{self.prefix}-{shape.suffix}"


def path(half: Half, kind: str) -> str:
    """Where reviews of a kind are sent: `/validate-worker-gpustack-ai-v1-modeldeployment`."""
    return f"/{half}-{keys.GROUP.replace('.', '-')}-{keys.VERSION}-{kind.lower()}"


def configuration(installation: Installation, shape: Shape, bundle: bytes) -> dict[str, Any]:
    """One configuration, as it is applied; `bundle` are the authorities API servers trust, PEM."""
    return {
        "apiVersion": shape.kind.api_version,
        "kind": shape.kind.kind,
        "metadata": {"name": installation.named(shape)},
        "webhooks": [_webhook(installation, shape.half, kind, bundle) for kind in PLURALS],
    }


def in_place(wanted: Mapping[str, Any], found: Configuration) -> bool:
    """Whether every webhook we want is there with every field as we want it; what others added does not count."""
    present = {each.get("name"): each for each in found.webhooks}
    return all(_holds(each, present.get(each["name"])) for each in wanted["webhooks"])


def _holds(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(_holds(value, found.get(key)) for key, value in wanted.items())
    return bool(wanted == found)


def _webhook(installation: Installation, half: Half, kind: str, bundle: bytes) -> dict[str, Any]:
    selector: dict[str, Any] = {}
    if installation.namespaces:
        chosen = sorted(installation.namespaces)
        selector = {"matchExpressions": [{"key": NAMESPACE_NAME, "operator": "In", "values": chosen}]}
    return {
        "name": f"{half}.{keys.GROUP}.{keys.VERSION}.{kind.lower()}",
        "clientConfig": {**_address(installation.reach, path(half, kind)), "caBundle": b64encode(bundle).decode()},
        "rules": [
            {
                "apiGroups": [keys.GROUP],
                "apiVersions": [keys.VERSION],
                "operations": ["CREATE", "UPDATE"],
                "resources": [PLURALS[kind]],
                "scope": "Namespaced",
            }
        ],
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
        "admissionReviewVersions": [REVIEW_VERSION],
        "namespaceSelector": selector,
    }


def _address(reach: Service | str, at: str) -> dict[str, Any]:
    if isinstance(reach, Service):
        return {"service": {"name": reach.name, "namespace": reach.namespace, "port": reach.port, "path": at}}
    return {"url": f"{reach.rstrip('/')}{at}"}
