"""What a part of a program asks of the API server, stated beside the code that asks, so that RBAC can be made of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from modeldeployment.kube.kinds import Kind


@dataclass(frozen=True, slots=True)
class Grant:
    """Verbs on one kind or one of its subresources, and why they are needed.

    `own_namespace` grants are for the program's own namespace alone; the others hold in every namespace. `names`
    limits a grant to objects of those names; creating cannot be limited so, since RBAC does not know the name then.
    """

    kind: Kind[Any]
    verbs: tuple[str, ...]
    why: str
    subresource: str = ""
    own_namespace: bool = False
    names: tuple[str, ...] = ()

    @property
    def resource(self) -> str:
        """`pods` or `pods/status`."""
        return f"{self.kind.plural}/{self.subresource}" if self.subresource else self.kind.plural

    def rule(self) -> dict[str, Any]:
        """This grant as one rule of a Role or ClusterRole."""
        rule: dict[str, Any] = {
            "apiGroups": [self.kind.group],
            "resources": [self.resource],
            "verbs": list(self.verbs),
        }
        return rule | ({"resourceNames": list(self.names)} if self.names else {})


def rules(grants: Iterable[Grant]) -> list[dict[str, Any]]:
    """One rule per group, resource and names, in order of first use, with the verbs of all grants about it."""
    merged: dict[tuple[str, str, tuple[str, ...]], Grant] = {}
    for grant in grants:
        key = (grant.kind.group, grant.resource, grant.names)
        known = merged.get(key)
        verbs = grant.verbs if known is None else (*known.verbs, *(v for v in grant.verbs if v not in known.verbs))
        merged[key] = Grant(grant.kind, verbs, grant.why, grant.subresource, names=grant.names)
    return [grant.rule() for grant in merged.values()]
