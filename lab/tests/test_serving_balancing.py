"""Where new connections of a Service go."""

from modeldeployment.kube.shapes import Endpoint, EndpointConditions, EndpointPort, EndpointSlice, ObjectMeta
from modeldeployment.lab.serving.balancing import backends


def listed(*endpoints: Endpoint, port: int = 8000) -> EndpointSlice:
    return EndpointSlice(ObjectMeta(), endpoints=endpoints, ports=(EndpointPort(port=port),))


def at(address: str, *, ready: bool = True, serving: bool = True, terminating: bool = False) -> Endpoint:
    return Endpoint((address,), EndpointConditions(ready, serving, terminating))


def test_connections_go_to_what_is_ready_in_every_slice() -> None:
    found = backends([listed(at("127.1.0.2"), at("127.1.0.1", ready=False)), listed(at("127.1.0.3"), port=9000)])
    assert found == (("127.1.0.2", 8000), ("127.1.0.3", 9000))


def test_what_is_leaving_is_used_only_where_nothing_is_ready() -> None:
    leaving = at("127.1.0.1", ready=False, terminating=True)
    assert backends([listed(leaving, at("127.1.0.2"))]) == (("127.1.0.2", 8000),)
    assert backends([listed(leaving, at("127.1.0.3", ready=False, serving=False))]) == (("127.1.0.1", 8000),)


def test_a_service_without_endpoints_leads_nowhere() -> None:
    assert backends([]) == ()
    assert backends([listed()]) == ()
