"""What each source of weights adds to a Pod, on each engine, and under each delivery."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modeldeployment.render import ENGINES, Policy, Seat, Standing, render
from modeldeployment.render.weights import CACHE_PATH, MODEL_PATH, WEIGHTS_PATHS, Weights, resolve
from render_artifacts import (
    BY_NODE,
    CLAIM,
    COMMIT,
    DIGEST,
    HUGGING_FACE,
    IMAGE,
    MARK,
    MODEL_SCOPE,
    PINNED,
    RESOLVED,
    artifact,
    known,
    served,
)
from render_worlds import deployment, facts, main, role

NAMED = ["--served-model-name", "qwen-72b", "--host", "0.0.0.0", "--port", "8000"]
STARTS = {"vLLM": ["vllm", "serve"], "SGLang": ["python3", "-m", "sglang.launch_server", "--model-path"]}
THEN = {"vLLM": [], "SGLang": ["--enable-metrics"]}
SWITCH = {"vLLM": "VLLM_USE_MODELSCOPE", "SGLang": "SGLANG_USE_MODELSCOPE"}


def pod(of: Any, cluster: Any) -> dict[str, Any]:
    """The Pod of the first role's first seat, without the two values that depend on everything else in it."""
    found: dict[str, Any] = render(of, cluster).roles[0].template.pod(Seat(0, 0))
    del found["metadata"]["annotations"]["modeldeployment.gpustack.ai/pod-spec-hash"]
    del found["metadata"]["labels"]["kueue.x-k8s.io/pod-group-name"]
    return found


def line(engine: str, model: str, *arguments: str) -> list[str]:
    return [*STARTS[engine], model, *THEN[engine], *arguments, *NAMED]


def expected(engine: str, command: list[str], volume: dict[str, Any], mount: dict[str, Any], **main_fields: Any) -> Any:
    """A Pod without an artifact, with these values in place of its own."""
    plain = pod(deployment(role(), engine=engine), facts())
    plain["spec"]["volumes"] = [volume]
    main(plain).update({"command": command, "volumeMounts": [mount], **main_fields})
    return plain


def mounted(**more: Any) -> dict[str, Any]:
    return {"name": "gpustack-model", "mountPath": "/var/lib/gpustack/model", "readOnly": True, **more}


def volume(**source: Any) -> dict[str, Any]:
    return {"name": "gpustack-model", **source}


engines = pytest.mark.parametrize("engine", ["vLLM", "SGLang"])


@engines
def test_a_claim_is_mounted_read_only_where_the_engine_loads_it(engine: str) -> None:
    claim = volume(persistentVolumeClaim={"claimName": "models", "readOnly": True})
    assert pod(served(engine=engine), known(artifact(CLAIM, resolved=None))) == expected(
        engine, line(engine, "/var/lib/gpustack/model"), claim, mounted(subPath="qwen/72b")
    )


def test_a_claim_without_a_path_is_mounted_from_its_root() -> None:
    bare = artifact({"persistentVolumeClaim": {"claimName": "models"}})
    assert main(pod(served(), known(bare)))["volumeMounts"] == [mounted()]


@engines
def test_an_image_is_mounted_by_its_pinned_reference(engine: str) -> None:
    image = volume(image={"reference": IMAGE, "pullPolicy": "IfNotPresent"})
    assert pod(served(engine=engine), known(artifact(PINNED, resolved=None))) == expected(
        engine, line(engine, "/var/lib/gpustack/model"), image, mounted()
    )


@engines
@pytest.mark.parametrize("source", [HUGGING_FACE, MODEL_SCOPE], ids=["hugging-face", "model-scope"])
def test_a_node_delivers_a_hub_through_the_driver(engine: str, source: dict[str, Any]) -> None:
    attributes = {"modelArtifact": "team-a/weights", "manifestDigest": f"sha256:{DIGEST}"}
    csi = volume(csi={"driver": "model.csi.gpustack.ai", "readOnly": True, "volumeAttributes": attributes})
    assert pod(served(engine=engine), known(artifact(source), BY_NODE)) == expected(
        engine, line(engine, "/var/lib/gpustack/model"), csi, mounted()
    )


CACHE = {"name": "gpustack-model-cache", "emptyDir": {"sizeLimit": "22Gi"}}
CACHED = {"name": "gpustack-model-cache", "mountPath": "/var/lib/gpustack/model-cache"}
"""20 GiB and a tenth of it; the limit of ephemeral storage is 15 GiB without."""


def downloading(engine: str, repository: str, env: list[dict[str, Any]]) -> Any:
    command = line(engine, repository, "--revision", COMMIT)
    limits = main(pod(deployment(role(), engine=engine), facts()))["resources"]["limits"]
    assert limits["ephemeral-storage"] == "15Gi"
    resources = main(pod(deployment(role(), engine=engine), facts()))["resources"]
    grown = {**resources, "limits": {**limits, "ephemeral-storage": "37Gi"}}
    return expected(engine, command, CACHE, CACHED, env=env, resources=grown)


@engines
def test_an_engine_downloads_from_hugging_face_at_the_commit(engine: str) -> None:
    env = [
        {"name": "HF_HOME", "value": "/var/lib/gpustack/model-cache"},
        {"name": "HF_ENDPOINT", "value": "https://huggingface.co"},
    ]
    assert pod(served(engine=engine), known(artifact(HUGGING_FACE))) == downloading(
        engine, "Qwen/Qwen2.5-72B-Instruct", env
    )


@engines
def test_an_engine_downloads_from_model_scope_at_the_commit(engine: str) -> None:
    env: list[dict[str, Any]] = [
        {"name": "MODELSCOPE_CACHE", "value": "/var/lib/gpustack/model-cache"},
        {"name": "MODELSCOPE_DOMAIN", "value": "www.modelscope.cn"},
        {"name": "MODELSCOPE_API_TOKEN", "valueFrom": {"secretKeyRef": {"name": "scope", "key": "token"}}},
        {"name": SWITCH[engine], "value": "true"},
    ]
    assert pod(served(engine=engine), known(artifact(MODEL_SCOPE))) == downloading(
        engine, "qwen/Qwen2.5-72B-Instruct", env
    )


def environment(source: dict[str, Any], policy: Policy | None = None, **fields: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = main(pod(served(role(**fields)), known(artifact(source), policy)))["env"]
    return found


def test_a_token_is_only_ever_a_reference_to_its_secret() -> None:
    source = {"huggingFace": {**HUGGING_FACE["huggingFace"], "secretRef": {"name": "hub"}}}
    env = environment(source, env=[{"name": "HF_TOKEN", "value": "hf_secret"}])
    assert env[2] == {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}
    assert [entry["name"] for entry in env] == ["HF_HOME", "HF_ENDPOINT", "HF_TOKEN"]


def test_hubs_and_proxies_are_settings_and_the_roles_own_proxy_wins() -> None:
    policy = Policy(
        hugging_face_endpoint="https://hf-mirror.local", https_proxy="http://proxy:3128", no_proxy=".svc,10.0.0.0/8"
    )
    env = environment(HUGGING_FACE, policy, env=[{"name": "NO_PROXY", "value": "*"}, {"name": "A", "value": "1"}])
    assert env[1:] == [
        {"name": "HF_ENDPOINT", "value": "https://hf-mirror.local"},
        {"name": "HTTPS_PROXY", "value": "http://proxy:3128"},
        {"name": "NO_PROXY", "value": "*"},
        {"name": "A", "value": "1"},
    ]


def test_a_mirror_of_model_scope_is_named_without_its_scheme() -> None:
    for endpoint in ("http://scope.local:8080/", "scope.local:8080"):
        env = environment(MODEL_SCOPE, Policy(model_scope_endpoint=endpoint))
        assert env[1] == {"name": "MODELSCOPE_DOMAIN", "value": "scope.local:8080"}


def test_a_hub_without_an_endpoint_is_looked_for_where_its_client_does() -> None:
    assert [entry["name"] for entry in environment(HUGGING_FACE, Policy(hugging_face_endpoint=""))] == ["HF_HOME"]


@pytest.mark.parametrize("source", [CLAIM, PINNED], ids=["claim", "image"])
def test_nothing_that_is_mounted_goes_through_a_proxy_or_takes_storage(source: dict[str, Any]) -> None:
    found = main(pod(served(), known(artifact(source), Policy(https_proxy="http://proxy:3128", no_proxy="*"))))
    assert "env" not in found
    assert found["resources"]["limits"]["ephemeral-storage"] == "15Gi"


@engines
def test_owned_variables_of_a_stored_role_are_dropped_beside_an_artifact_alone(engine: str) -> None:
    own = [
        {"name": name, "value": "mine"} for name in ("HF_HOME", "MODELSCOPE_CACHE", SWITCH[engine], "HF_HUB_OFFLINE")
    ]
    with_artifact = main(pod(served(role(env=own), engine=engine), known(artifact(CLAIM))))
    assert with_artifact["env"] == own[3:]
    assert main(pod(deployment(role(env=own), engine=engine), facts()))["env"] == own


def test_a_command_of_the_users_gets_what_is_mounted_and_keeps_its_variables() -> None:
    own = [{"name": "HF_HOME", "value": "/mine"}]
    found = pod(served(role(command=["run", "it"], env=own)), known(artifact(CLAIM)))
    assert main(found)["command"] == ["run", "it"]
    assert main(found)["env"] == own
    assert main(found)["volumeMounts"] == [mounted(subPath="qwen/72b")]
    assert [entry["name"] for entry in found["spec"]["volumes"]] == ["gpustack-model"]


def test_a_command_of_the_users_gets_nothing_where_the_engine_would_download() -> None:
    taken = role(command=["run", "it"])
    with_artifact = pod(served(taken), known(artifact(HUGGING_FACE), Policy(https_proxy="http://proxy:3128")))
    assert with_artifact == pod(deployment(taken), facts())


@pytest.mark.parametrize(
    ("engine", "arguments"),
    [
        ("vLLM", ["--served-model-name", "qwen-72b"]),
        ("vLLM", ["--served-model-name=qwen-72b"]),
        ("vLLM", ["--served_model_name", "qwen-72b"]),
        ("vLLM", ["--served-model", "qwen-72b"]),
        ("vLLM", ["--served-model-name"]),
        ("SGLang", ["--served-model-name", "qwen-72b"]),
        ("SGLang", ["--served-model-name=qwen-72b"]),
    ],
)
def test_a_name_the_role_gives_is_not_given_again(engine: str, arguments: list[str]) -> None:
    command = main(pod(served(role(extraArgs=arguments), engine=engine), known(artifact(CLAIM))))["command"]
    assert command == [*STARTS[engine], MODEL_PATH, *THEN[engine], *arguments, *NAMED[2:]]


def test_another_flag_of_the_role_leaves_the_name_to_the_operator() -> None:
    command = main(pod(served(role(extraArgs=["--seed", "1"])), known(artifact(CLAIM))))["command"]
    assert command == ["vllm", "serve", MODEL_PATH, *NAMED[:2], "--seed", "1", *NAMED[2:]]


def test_the_weights_volume_comes_after_the_roles_own() -> None:
    own = [{"mountPath": "/data", "configMap": {"name": "data"}}]
    names = [
        entry["name"] for entry in pod(served(role(additionalVolumes=own)), known(artifact(CLAIM)))["spec"]["volumes"]
    ]
    assert names == ["additional-0", "gpustack-model"]


def test_every_value_of_the_weights_is_the_operators_but_name_and_proxies() -> None:
    policy = Policy(https_proxy="http://proxy:3128")
    placed = render(served(), known(artifact(MODEL_SCOPE), policy)).roles[0].placed
    defaulted = {
        path[-1]
        for path, each in placed.items()
        if each.part.startswith("weights") and each.standing is not Standing.OWNED
    }
    assert defaulted == {"served-model-name", "HTTPS_PROXY"}


def weights(source: dict[str, Any], policy: Policy | None = None, **fields: Any) -> Weights:
    of = served()
    found = resolve(of, ENGINES[of.spec.engine.name], known(artifact(source, **fields), policy))
    assert found is not None
    return found


def test_blocks_are_marked_by_what_the_weights_are() -> None:
    assert weights(HUGGING_FACE).prefix == MARK
    assert weights(MODEL_SCOPE, BY_NODE).prefix == MARK
    assert weights(HUGGING_FACE, resolved={**RESOLVED, "manifestDigest": DIGEST}).prefix == MARK
    assert weights(PINNED, resolved=None).prefix == MARK
    assert weights(CLAIM).prefix == "m-b859d9ea7c3d100c2105b0b3ed18f349"


@given(st.integers(min_value=0, max_value=2**50))
def test_a_download_has_a_tenth_or_a_gibibyte_to_spare(size: int) -> None:
    room = weights(HUGGING_FACE, resolved={**RESOLVED, "sizeBytes": size}).cache_bytes
    assert room == size + (size // 10 if size >= 10 * 2**30 else 2**30)


def test_small_weights_get_a_gibibyte_to_spare() -> None:
    resolved = {**RESOLVED, "sizeBytes": 2 * 2**30}
    found = pod(served(), known(artifact(HUGGING_FACE, resolved=resolved)))
    assert found["spec"]["volumes"] == [{"name": "gpustack-model-cache", "emptyDir": {"sizeLimit": "3Gi"}}]
    assert main(found)["resources"]["limits"]["ephemeral-storage"] == "18Gi"


def test_without_an_artifact_nothing_is_resolved_even_where_one_is_known() -> None:
    of = deployment()
    assert resolve(of, ENGINES[of.spec.engine.name], known(artifact(CLAIM))) is None
    assert pod(of, known(artifact(CLAIM))) == pod(of, facts())


def test_weights_lie_at_two_paths() -> None:
    assert WEIGHTS_PATHS == (MODEL_PATH, CACHE_PATH) == ("/var/lib/gpustack/model", "/var/lib/gpustack/model-cache")
