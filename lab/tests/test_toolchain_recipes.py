"""What is built, under which name it is cached, and which lines of other projects are changed."""

from dataclasses import replace

import pytest
from modeldeployment.lab.errors import SourceChanged
from modeldeployment.lab.toolchain import place
from modeldeployment.lab.toolchain.recipes import ETCD, FAMILIES, KUBERNETES, KUEUE, PICKER, PROGRAMS, PROMTOOL, Change

CHANGE = Change("main.go", "\told()", "\tnew()")


def test_the_programs_are_the_seven_of_the_lab() -> None:
    assert sorted(PROGRAMS) == [
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kubectl",
        "kueue",
        "kwok",
    ]


def test_a_change_replaces_its_one_line() -> None:
    assert CHANGE.apply("a\n\told()\nb\n") == "a\n\tnew()\nb\n"


@pytest.mark.parametrize("text", ["a\nb\n", "\told()\n\told()\n", "\told() // more\n"])
def test_a_change_that_does_not_fit_exactly_once_is_refused(text: str) -> None:
    with pytest.raises(SourceChanged, match="instead of once"):
        CHANGE.apply(text)


def test_kube_apiserver_is_told_to_accept_loopback_endpoints_by_a_variable() -> None:
    assert KUBERNETES.source is not None
    before = 'import (\n\t"net"\n)\n\tif ip.IsLoopback() {\n'
    for change in KUBERNETES.source.changes:
        before = change.apply(before)
    assert before == (
        'import (\n\t"net"\n\t"os"\n)\n\tif ip.IsLoopback() && os.Getenv("LAB_ALLOW_LOOPBACK_ENDPOINTS") == "" {\n'
    )


def test_kubernetes_programs_carry_their_version() -> None:
    flags = KUBERNETES.programs[0].link_flags
    assert flags.startswith("-s -w -X k8s.io/component-base/version.gitVersion=v1.36.3 ")
    assert " -X k8s.io/client-go/pkg/version.gitMinor=36" in flags


@pytest.mark.parametrize(
    ("family", "pin"),
    [
        ("etcd", "go.etcd.io/etcd/server/v3 v3.6.16"),
        ("kubernetes", "k8s.io/kubernetes v1.36.3"),
        ("kueue", "sigs.k8s.io/kueue v0.18.4"),
        ("kwok", "sigs.k8s.io/kwok v0.8.0"),
    ],
)
def test_every_family_ships_its_pins_and_needs_no_newer_go_than_promised(family: str, pin: str) -> None:
    pins = {member.name: dict(member.pins()) for member in FAMILIES}[family]
    assert pin in pins["go.mod"].decode()
    assert "\ngo 1.26.0\n" in pins["go.mod"].decode()
    assert b" h1:" in pins["go.sum"]


def test_the_picker_is_pinned_beside_the_lab_and_no_part_of_it() -> None:
    pins = dict(PICKER.pins())
    assert b"github.com/llm-d/llm-d-inference-scheduler v0.7.1" in pins["go.mod"]
    assert b"github.com/llm-d/llm-d-kv-cache v0.9.0" in pins["go.mod"]
    assert b" h1:" in pins["go.sum"]
    assert [program.name for program in PICKER.programs] == ["epp", "pd-sidecar"]
    assert PICKER not in FAMILIES


def test_the_checker_of_series_is_pinned_beside_the_lab_and_no_part_of_it() -> None:
    pins = dict(PROMTOOL.pins())
    assert b"github.com/prometheus/prometheus v0.313.5" in pins["go.mod"]
    assert b"\ngo 1.26.0\n" in pins["go.mod"]
    assert b" h1:" in pins["go.sum"]
    assert PROMTOOL not in FAMILIES


def test_the_cache_key_names_versions_platform_and_recipe() -> None:
    assert place.cache_key("0123456789ab", "linux-amd64") == (
        "kubernetes1.36.3-kueue0.18.4-kwok0.8.0-etcd3.6.16-linux-amd64-0123456789ab"
    )


def test_any_change_of_a_recipe_is_another_recipe() -> None:
    assert KUEUE.source is not None
    other_line = replace(KUEUE, source=replace(KUEUE.source, changes=()))
    digests = {
        place.recipe_digest(),
        place.recipe_digest((ETCD,)),
        place.recipe_digest((KUEUE,)),
        place.recipe_digest((other_line,)),
    }
    assert len(digests) == 4


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [("Linux", "x86_64", "linux-amd64"), ("Darwin", "arm64", "darwin-arm64"), ("Linux", "riscv64", "linux-riscv64")],
)
def test_platforms_are_named_as_go_names_them(system: str, machine: str, name: str) -> None:
    assert place.platform_name(system, machine) == name
