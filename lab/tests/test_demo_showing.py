import dataclasses
import io

from demo_worlds import decode, deployment, pod, routed, router, settled, workload, world
from modeldeployment.lab.demo.claims import Verdict
from modeldeployment.lab.demo.history import World
from modeldeployment.lab.demo.kubectl import Told
from modeldeployment.lab.demo.showing import Teller, console
from rich.console import Console
from rich.text import Text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def plain() -> tuple[Teller, io.StringIO]:
    stream = io.StringIO()
    return Teller(console(stream)), stream


def test_without_a_terminal_the_story_is_plain_lines() -> None:
    teller, stream = plain()
    starting = dataclasses.replace(deployment(2, ready=0, phase="Starting"), reserved=1)
    with teller:
        teller.step("apply chat")
        teller.progress(world(starting))
        teller.progress(world(starting, pod(0, ready=False)))
        teller.progress(settled(2))
        teller.verdict(Verdict("2 of 2 replicas are Ready"), seconds=1.25)
        teller.verdict(Verdict("nothing is left", ("Pod a is left", "Pod b is left")))
        teller.trouble("the latest events:", ())
        teller.trouble("the operator's last lines:", ("one", "[two]"))
    assert stream.getvalue() == (
        "\napply chat\n"
        "  · phase Starting  ready 0/2  quota 1/2  rollout ReplicasUpToDate holds\n"
        "  · phase Ready  ready 2/2  quota 2/2  rollout ReplicasUpToDate holds\n"
        "✓ 2 of 2 replicas are Ready (1.2 s)\n"
        "✗ nothing is left\n    Pod a is left\n    Pod b is left\n"
        "the operator's last lines:\n  one\n  [two]\n"
    )


def test_marks_can_be_told_apart_where_the_encoding_has_none() -> None:
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="ascii", errors="replace")
    teller = Teller(console(stream))
    teller.verdict(Verdict("one"))
    teller.verdict(Verdict("two", ("no",)))
    stream.flush()
    assert written.getvalue() == b"ok: one\nNOT: two\n    no\n"


def test_a_long_line_is_not_folded_without_a_terminal() -> None:
    teller, stream = plain()
    teller.verdict(Verdict("long " * 100))
    assert stream.getvalue().count("\n") == 1


def test_what_a_deleted_deployment_left_behind_is_told() -> None:
    teller, stream = plain()
    teller.step("delete chat")
    teller.progress(world(pod(0), workload("p0")))
    teller.progress(World())
    assert stream.getvalue().splitlines()[2:] == [
        "  · left: 1 Pods, 1 Workloads, 0 Services",
        "  · left: 0 Pods, 0 Workloads, 0 Services",
    ]


def test_the_tree_leads_from_the_deployment_to_the_node() -> None:
    teller, stream = plain()
    teller.picture(world(deployment(2), pod(0), workload("p0"), pod(1, ready=False, node=""), workload("x")))
    assert [line.rstrip() for line in stream.getvalue().splitlines()] == [
        "ModelDeployment chat",
        "└── role server",
        "    ├── replica 0",
        "    │   └── Pod chat-server-p0 Ready",
        "    │       └── Workload group-w-p0 admitted: credits.gpustack.ai/nvidia of a10g-8d",
        "    │           └── node node-0",
        "    └── replica 1",
        "        └── Pod chat-server-p1 not Ready",
        "            └── node not chosen",
    ]


def test_a_router_stands_beside_the_roles_and_a_proxy_beside_its_engine() -> None:
    teller, stream = plain()
    paired = routed().deployment
    assert paired is not None
    teller.step("apply chat")
    teller.progress(world(dataclasses.replace(paired, summary="")))
    teller.progress(world(paired))
    teller.progress(world(router("Role")))
    teller.picture(world(paired, decode(0), router("Role"), router("Pod", ready=False)))
    assert [line.rstrip() for line in stream.getvalue().splitlines()[2:]] == [
        "  · roles none yet  phase Ready  ready 4/4  quota 4/4  rollout ReplicasUpToDate holds",
        "  · roles 1R2P2D  phase Ready  ready 4/4  quota 4/4  rollout ReplicasUpToDate holds",
        "  · left: 0 Pods, 0 Workloads, 0 Services, 1 of the router",
        "ModelDeployment chat",
        "├── role decode",
        "│   └── replica 0",
        "│       └── Pod chat-decode-D0 Ready, routing-proxy beside it",
        "│           └── node node-0",
        "└── router llm-d-router",
        "    ├── Pod chat-router not Ready",
        "    └── Role chat-router",
    ]


def test_on_a_terminal_the_table_is_drawn_and_taken_away_before_a_line_is_printed() -> None:
    stream = Terminal()
    with Teller(Console(file=stream, force_terminal=True, width=120)) as teller:
        teller.step("apply chat")
        teller.progress(settled(2))
        teller.verdict(Verdict("2 of 2 replicas are Ready"))
    drawn = stream.getvalue()
    assert drawn.index("rollout") < drawn.index("✓ 2 of 2 replicas are Ready")
    assert drawn.count("\x1b[?25l") == drawn.count("\x1b[?25h") == 1


PRINTED = Told(
    "kubectl apply -f a.yaml", ("it is invalid: ", "* spec.name: Required value: " + "why " * 40 + "(MD010)")
)


def test_what_a_command_printed_is_told_as_it_was_without_a_terminal() -> None:
    teller, stream = plain()
    teller.told(PRINTED)
    assert stream.getvalue() == f"  $ kubectl apply -f a.yaml\n  it is invalid:\n  {PRINTED.lines[1]}\n"


def test_what_a_command_printed_is_folded_under_its_own_beginning_on_a_terminal() -> None:
    stream = Terminal()
    with Teller(Console(file=stream, force_terminal=True, width=60)) as teller:
        teller.told(PRINTED)
    printed = stream.getvalue()
    assert "\x1b[1mspec.name\x1b[0m" in printed
    assert "\x1b[1m(MD010)\x1b[0m" in printed
    lines = [line.rstrip() for line in Text.from_ansi(printed).plain.splitlines()]
    assert lines[:2] == ["  $ kubectl apply -f a.yaml", "  it is invalid:"]
    assert lines[2].startswith("  * spec.name: Required value: why why")
    assert all(line.startswith("    ") for line in lines[3:])
    assert max(map(len, lines)) <= 60


def test_the_summary_counts_the_claims() -> None:
    teller, _ = plain()
    teller.verdict(Verdict("one"))
    assert teller.summary(12.3) == "all 1 claims hold (12 s)"
    teller.verdict(Verdict("two", ("no",)))
    assert teller.summary(12.3) == "1 of 2 claims do not hold (12 s)"
