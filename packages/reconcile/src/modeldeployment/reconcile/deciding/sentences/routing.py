"""The sentences of what a pass found out of the router and of the events that it follows."""

from typing import assert_never

from modeldeployment.reconcile.deciding import findings as found
from modeldeployment.reconcile.deciding.sentences import words


def of(
    finding: found.NoRouterDeclared | found.RouterNotDeployed | found.RouterNotServing | found.RouterServes,
) -> str:
    """The sentence of a finding."""
    match finding:
        case found.NoRouterDeclared():
            return "spec.router is not declared"
        case found.RouterNotDeployed(taken=()):
            return "the router has not been created yet"
        case found.RouterNotDeployed(taken=taken):
            return router_name_taken(", ".join(taken))
        case found.RouterNotServing(wanted=wanted, taken=taken):
            said = f"none of {words.routers(wanted)} is ready"
        case found.RouterServes(ready=ready, wanted=wanted, taken=taken):
            said = f"{ready} of {words.routers(wanted)} {'is' if ready == 1 else 'are'} ready"
        case other:
            assert_never(other)
    return "; ".join((said, *taken))


def events(
    finding: found.NoEvents
    | found.NoRouterForEvents
    | found.PublisherDisabled
    | found.ProducerUnmanaged
    | found.Publishing,
) -> str:
    """The sentence of who publishes events."""
    match finding:
        case found.NoEvents():
            return "no role publishes KV events, and nothing would follow them"
        case found.NoRouterForEvents():
            return "the roles of a pair publish KV events to a router only; declare spec.router"
        case found.PublisherDisabled(roles=roles):
            return f"no KV events are published by {words.roles(roles)} under this router and engine"
        case found.ProducerUnmanaged(roles=roles):
            return f"whether KV events are published is not known of {words.roles(roles)}, which brings its own command"
        case found.Publishing():
            return "every producing role is configured to publish KV events"
        case other:
            assert_never(other)


def not_owned(kind: str, namespace: str, name: str) -> str:
    """Which of a router's objects somebody else holds (facts router-rendering R18)."""
    return f"{kind.lower()} {namespace}/{name} is not owned by this deployment"


def router_name_taken(what: str) -> str:
    """The note on a name of a router's object that somebody else holds."""
    return f"{what}; delete or rename it, and the router is brought up"
