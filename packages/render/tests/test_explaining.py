"""Where every value of a Pod comes from."""

from typing import Any

import pytest
from modeldeployment.render import ENGINES, Seat, explaining, render
from modeldeployment.render.compose import ARGV
from modeldeployment.render.explaining import Origin
from modeldeployment.router import Standing
from render_worlds import deployment, facts, one_role, rendered

FIRST = Seat(0, 0)


def origins(seat: Seat = FIRST, engine: str = "vLLM", **fields: Any) -> dict[str, Origin]:
    role = one_role(engine, **fields)
    found = explaining.pod(role, seat, next(each for name, each in ENGINES.items() if name.value == engine))
    return {explaining.spelled(each.path): each for each in found}


def test_a_value_has_its_part_its_standing_and_the_parts_first_sentence() -> None:
    found = origins(terminationGracePeriodSeconds=60, env=[{"name": "A", "value": "1"}])
    queue = found["metadata.labels[kueue.x-k8s.io/queue-name]"]
    assert (queue.value, queue.part, queue.standing) == ("queue-for-h20-8x", "group", Standing.OWNED)
    assert queue.rule == "Make each replica one Kueue group in the queue of its InstanceType"
    assert found["spec.terminationGracePeriodSeconds"].standing is Standing.USER
    assert found["spec.containers[main].env[A]"].value == {"value": "1"}
    assert origins()["spec.terminationGracePeriodSeconds"].standing is Standing.DEFAULTED


def test_a_run_of_arguments_is_one_origin_with_its_tokens() -> None:
    found = origins(extraArgs=["--max-model-len", "4096"])
    runs = {path: each.value for path, each in found.items() if ".command[" in path}
    assert runs["spec.containers[main].command[extraArgs]"] == ["--max-model-len", "4096"]
    assert runs["spec.containers[main].command[engine]"] == ["vllm", "serve", "Qwen/Qwen2.5-72B-Instruct"]
    assert runs["spec.containers[main].command[port]"] == ["--port", "8000"]


def test_what_differs_between_seats_is_that_of_the_seat() -> None:
    found = origins(Seat(1, 1), replicas=2, size=2)
    assert found["metadata.labels[modeldeployment.gpustack.ai/pod-ordinal]"].value == "1"
    assert found["metadata.labels[modeldeployment.gpustack.ai/member-index]"].value == "1"
    eligible = "metadata.labels[modeldeployment.gpustack.ai/endpoint-eligible]"
    assert eligible not in found
    assert origins(Seat(1, 0), replicas=2, size=2)[eligible].value == "true"


def test_a_role_that_was_taken_over_has_the_shorter_list_of_parts() -> None:
    found = origins(command=["serve", "--it"])
    run = found["spec.containers[main].command[command]"]
    assert (run.part, run.standing, run.value) == ("taken_over", Standing.USER, ["serve", "--it"])
    assert run.rule == "Run the user's command line and nothing of ours"


@pytest.mark.parametrize("engine", ["vLLM", "SGLang"])
def test_every_value_of_the_pod_has_exactly_one_origin(engine: str) -> None:
    fields: dict[str, Any] = {
        "replicas": 2,
        "size": 2,
        "env": [{"name": "A", "value": "1"}],
        "extraArgs": ["--context-length=1"],
        "additionalVolumes": [{"mountPath": "/x", "secret": {"name": "s"}}],
        "imagePullSecrets": [{"name": "pull"}],
        "topology": {"requiredLevel": "rack"},
    }
    role = one_role(engine, **fields)
    found = explaining.pod(role, Seat(1, 1), next(each for name, each in ENGINES.items() if name.value == engine))
    covered = {explaining.spelled(each.path) for each in found}
    assert len(covered) == len(found)
    assert [leaf for leaf in leaves(role.template.pod(Seat(1, 1))) if not any(map(leaf.startswith, covered))] == []
    assert all(each.rule and not each.rule.endswith(".") for each in found)


def leaves(node: Any, path: tuple[str, ...] = ()) -> list[str]:
    """Paths of a Pod's values; lists of named entries by name, other lists and the command as one value."""
    if isinstance(node, dict):
        return [leaf for key, value in node.items() for leaf in leaves(value, (*path, key))]
    if isinstance(node, list) and path[-1] != ARGV and all(isinstance(each, dict) and "name" in each for each in node):
        entries = ({key: value for key, value in each.items() if key != "name"} for each in node)
        return [leaf for each, rest in zip(node, entries, strict=True) for leaf in leaves(rest, (*path, each["name"]))]
    return [] if path[-1] == ARGV else [explaining.spelled(path)]


def test_a_service_has_one_origin() -> None:
    whole = rendered(size=2)
    assert [(each["metadata"]["name"], explaining.service(each).part) for each in whole.services] == [
        ("qwen", "deployment_service"),
        ("qwen-server", "role_service"),
        ("qwen-server-r0", "replica_service"),
    ]
    only = explaining.service(whole.services[1])
    assert (only.path, only.value, only.standing) == ((), whole.services[1], Standing.OWNED)


def test_a_rule_is_the_first_sentence_on_one_line() -> None:
    assert explaining.first_sentence("Do this,\n    and that. Then more.\n\n    Source: x.") == "Do this, and that"
    assert explaining.first_sentence("Do this.\n\nMore.") == "Do this"


def test_a_seat_the_role_does_not_have_raises_index_error() -> None:
    (role,) = render(deployment(), facts()).roles
    with pytest.raises(IndexError):
        explaining.pod(role, Seat(0, 5), next(iter(ENGINES.values())))
