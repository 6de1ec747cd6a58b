"""Writing everything the components read before they start: certificates, kubeconfigs, configurations."""

import base64
import json
import secrets
from pathlib import Path

from modeldeployment.lab.controlplane import certificates, configurations
from modeldeployment.lab.controlplane.layout import Layout
from modeldeployment.lab.controlplane.options import Component, Options, Ports

ADMINISTRATOR = "admin"


def prepare(layout: Layout, ports: Ports, options: Options) -> None:
    """Write certificates, kubeconfigs and configurations into an empty layout (about 30 ms).

    Each program has an identity of its own, so that logs and managedFields tell them apart; all are in
    system:masters, so no RBAC objects are needed for them.
    """
    authority = certificates.Authority(certificates.now())
    authority.pair.write(layout.certificate("ca"), layout.key("ca"))
    authority.server("kube-apiserver", certificates.API_SERVER_NAMES).write(
        layout.certificate("apiserver"), layout.key("apiserver")
    )
    serving = authority.server("lab-webhook", certificates.LOOPBACK_NAMES)
    serving.write(layout.certificate("tls"), layout.key("tls"))
    serving.write(layout.kueue_certificates / "tls.crt", layout.kueue_certificates / "tls.key")
    private, public = certificates.service_account_keys()
    certificates.write_secret(layout.key("service-accounts"), private)
    (layout.pki / "service-accounts.pub").write_bytes(public)
    _write_token(layout)

    for component in options.components[2:]:
        identity = authority.client(f"lab:{component}", certificates.MASTERS)
        document = configurations.kubeconfig(ports, component, authority.pair.certificate, identity)
        _write_json(layout.component_kubeconfig(component), document)
    administrator = authority.client(f"lab:{ADMINISTRATOR}", certificates.MASTERS)
    administrator.write(layout.certificate(ADMINISTRATOR), layout.key(ADMINISTRATOR))
    _write_json(
        layout.kubeconfig,
        configurations.kubeconfig(ports, ADMINISTRATOR, authority.pair.certificate, administrator),
    )

    _write_json(layout.configuration("scheduler.json"), configurations.scheduler(layout))
    layout.configuration("kwok.yaml").write_text(configurations.kwok_stages())
    if Component.KUEUE in options.components:
        _write_json(layout.configuration("kueue.json"), configurations.kueue(layout, ports))


def authority_bundle(layout: Layout) -> str:
    """Return the CA certificate as base64, the way webhook configurations want it."""
    return base64.b64encode(layout.certificate("ca").read_bytes()).decode()


def _write_token(layout: Layout) -> None:
    token = secrets.token_urlsafe(24)
    certificates.write_secret(layout.pki / "token", token.encode())
    line = f'{token},lab:{ADMINISTRATOR},lab-{ADMINISTRATOR},"{certificates.MASTERS}"\n'
    certificates.write_secret(layout.pki / "tokens.csv", line.encode())


def _write_json(path: Path, document: object) -> None:
    certificates.write_secret(path, json.dumps(document, indent=2).encode())
