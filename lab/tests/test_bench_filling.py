import json
from pathlib import Path

from modeldeployment.lab.bench import filling
from modeldeployment.lab.bench.storing import filled


def listing(count: int) -> bytes:
    pods = [
        {
            "metadata": {"name": f"pod-{number}", "namespace": "bench", "uid": str(number), "resourceVersion": "5"},
            "spec": {"containers": [{"name": "main"}]},
            "status": {"phase": "Running"},
        }
        for number in range(count)
    ]
    return json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": pods}).encode()


def test_a_list_is_cut_into_the_pages_a_client_reads_and_one_to_warm_up(tmp_path: Path) -> None:
    assert filling.split(listing(501), tmp_path / "pods") == 501
    sizes = {file.name: len(json.loads(file.read_bytes())["items"]) for file in tmp_path.iterdir()}
    assert sizes == {"pods.0": 500, "pods.1": 1, "few-pods.0": 10}


async def test_our_store_and_the_official_client_are_filled_in_processes_of_their_own(tmp_path: Path) -> None:
    filling.split(listing(600), tmp_path / "pods")
    ours = await filled("ours", tmp_path / "pods", "-X", "tracemalloc")
    stock = await filled("stock", tmp_path / "pods")
    assert (ours["pods"], stock["pods"]) == (600, 600)
    assert ours["traced"] > 0.1
