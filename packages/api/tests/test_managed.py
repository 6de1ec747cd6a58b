from typing import Any

from modeldeployment.api import managed


def entry(manager: str, time: str, *roles: str, field: str = "f:replicas") -> dict[str, Any]:
    owned: dict[str, Any] = {f'k:{{"name":"{role}"}}': {".": {}, "f:name": {}, field: {}} for role in roles}
    return {"manager": manager, "operation": "Apply", "time": time, "fieldsV1": {"f:spec": {"f:roles": owned}}}


def test_who_holds_the_count_of_a_role_wrote_it() -> None:
    held = [
        entry("argocd-controller", "2030-01-01T00:00:02Z", "server"),
        entry("kubectl", "2030-01-01T00:00:01Z", "decode"),
        entry("editor", "2030-01-01T00:00:03Z", "server", field="f:image"),
    ]
    assert managed.writers(held, ["server"]) == ("argocd-controller",)


def test_the_latest_writer_is_named_first() -> None:
    held = [
        entry("flux", "2030-01-01T00:00:01Z", "server"),
        entry("argocd-controller", "2030-01-01T00:00:02Z", "server"),
        entry("flux", "2030-01-01T00:00:00Z", "server"),
    ]
    assert managed.writers(held, ["server"]) == ("argocd-controller", "flux")


def test_the_operator_is_nobody_else() -> None:
    assert managed.writers([entry("modeldeployment-operator", "2030-01-01T00:00:01Z", "server")], ["server"]) == ()


def test_what_cannot_be_read_tells_of_nobody() -> None:
    odd: list[dict[str, Any]] = [
        {},
        {"manager": "a"},
        {"manager": "b", "fieldsV1": {"f:spec": None}},
        {"manager": "c", "fieldsV1": {"f:spec": {"f:roles": []}}},
    ]
    assert managed.writers(odd, ["server"]) == ()
