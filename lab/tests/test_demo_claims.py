from demo_worlds import CREDITS, FLAVOR, Story, deployment, pod, settled, workload, world
from modeldeployment.lab.demo import claims
from modeldeployment.lab.demo.history import ServiceSeen, Window, World


def still(seen: World) -> Window:
    return Window(seen, ())


MISTAKES = (claims.Mistake("spec.engine.version", "MD010"), claims.Mistake("spec.roles[0].extraArgs[1]", "MD012"))
PRINTED = (
    "Warning: MDW22 spec.roles[0].replicas: 36 (of 16) accelerators are asked of a10g",
    'The ModelDeployment "chat" is invalid: ',
    '* spec.engine.version: Required value: role "server" names no image; set one (MD010)',
    "* spec.roles[0].extraArgs[1]: Forbidden: two values: one argument (a flag); remove it (MD012)",
)


def test_a_refusal_that_names_every_mistake_in_order_with_its_code_holds() -> None:
    window = Window(World(), (), PRINTED)
    assert claims.all_told(window, MISTAKES).holds
    assert claims.codes_told(window, MISTAKES).holds


def test_a_missing_reason_a_surplus_one_another_order_and_another_code_are_each_told() -> None:
    head, first, second = PRINTED[1:]
    swapped = Window(World(), (), (head, second, first))
    assert claims.all_told(swapped, MISTAKES).against == (
        "the reasons name spec.roles[0].extraArgs[1], spec.engine.version",
    )
    assert claims.all_told(Window(World(), (), (head, first)), MISTAKES).against == (
        "the reasons name spec.engine.version",
    )
    surplus = Window(World(), (), (*PRINTED, "* spec: why (MD001)"))
    assert claims.all_told(surplus, MISTAKES).against == (
        "the reasons name spec.engine.version, spec.roles[0].extraArgs[1], spec",
    )
    other = Window(World(), (), (head, first, second.replace("MD012", "MD013")))
    assert claims.codes_told(other, MISTAKES).against == ("the codes are MD010, MD013",)


def test_a_write_that_was_let_in_is_no_refusal() -> None:
    window = Window(World(), (), ("modeldeployment.worker.gpustack.ai/chat created",))
    assert claims.all_told(window, MISTAKES).against == ("the reasons name no field",)
    assert claims.codes_told(window, MISTAKES).against == ("the codes are missing",)


def test_a_deployment_that_was_stored_for_one_moment_is_seen() -> None:
    assert claims.nothing_stored(Window(World(), ())).holds
    story = Story(World()).put(deployment(1)).gone("d")
    assert claims.nothing_stored(story.window).against == ("there was a deployment chat",)


def test_replicas_are_ready_when_each_ordinal_has_one_ready_pod_and_the_status_says_so() -> None:
    assert claims.all_ready(still(settled(3)), 3).holds


def test_a_missing_a_doubled_and_an_unready_pod_each_speak_against_readiness() -> None:
    missing = world(deployment(3), pod(0), pod(2))
    assert claims.all_ready(still(missing), 3).against == ("the Pods hold the ordinals 0, 2",)
    doubled = world(deployment(2), pod(0), pod(1), pod(1, "double"))
    assert claims.all_ready(still(doubled), 2).against == ("the Pods hold the ordinals 0, 1, 1",)
    unready = world(deployment(1), pod(0, ready=False))
    assert claims.all_ready(still(unready), 1).against == ("Pod chat-server-p0 of ordinal 0 is not Ready",)


def test_a_status_that_lags_speaks_against_readiness() -> None:
    lagging = world(deployment(1, ready=0, phase="Starting"), pod(0))
    assert claims.all_ready(still(lagging), 1).against == ("its status says Starting, 0 ready",)
    assert claims.all_ready(still(world(pod(0))), 1).against == ("the deployment is not there",)


def test_replicas_own_a_workload_each() -> None:
    assert claims.own_workloads(still(settled(2)), CREDITS, FLAVOR).holds


def test_a_shared_a_waiting_a_foreign_and_a_missing_workload_are_each_told() -> None:
    shared = world(pod(0), pod(1), workload("p0", "p1"), workload("p9", uid="stray"))
    assert claims.own_workloads(still(shared), CREDITS, FLAVOR).against == (
        "Workload group-w-p0 is shared by 2 Pods",
        "Workload group-w-p0 is shared by 2 Pods",
    )
    waiting = world(pod(0), workload("p0", admitted=False))
    assert claims.own_workloads(still(waiting), CREDITS, FLAVOR).against == (
        "Workload group-w-p0 of ordinal 0 is not admitted",
    )
    foreign = world(pod(0), workload("p0", flavor="h20-8d"))
    assert claims.own_workloads(still(foreign), CREDITS, FLAVOR).against == (
        "Workload group-w-p0 was assigned {'credits.gpustack.ai/nvidia': 'h20-8d'}",
    )
    missing = world(pod(0))
    assert claims.own_workloads(still(missing), CREDITS, FLAVOR).against == (
        "Pod chat-server-p0 owns 0 Workloads",
        "there are -1 Workloads compared with Pods",
    )


def test_services_are_exactly_the_wanted_ones() -> None:
    both = world(ServiceSeen("a", "chat"), ServiceSeen("b", "chat-server"))
    assert claims.services(still(both), ("chat-server", "chat")).holds
    assert claims.services(still(both), ("chat",)).against == ("there are chat, chat-server",)


def test_survivors_that_nothing_happened_to_are_untouched() -> None:
    story = Story(settled(2)).put(deployment(3), pod(2, ready=False), workload("p2"), pod(2))
    assert claims.untouched(story.window, (0, 1)).holds


def test_a_survivor_that_was_unready_for_one_moment_was_touched() -> None:
    story = Story(settled(2)).put(pod(1, ready=False), pod(1))
    assert claims.untouched(story.window, (0, 1)).against == ("Pod chat-server-p1 of ordinal 1 changed or went",)


def test_a_survivor_that_was_replaced_or_admitted_anew_was_touched() -> None:
    replaced = Story(settled(2)).swapped(0, "p0", "new")
    assert claims.untouched(replaced.window, (0,)).against == (
        "Pod chat-server-p0 of ordinal 0 changed or went",
        "ordinal 0 has another Workload",
    )
    admitted_anew = Story(settled(1)).gone("w-p0").put(workload("p0", uid="w2"))
    assert claims.untouched(admitted_anew.window, (0,)).against == ("ordinal 0 has another Workload",)
    assert claims.untouched(still(world()), (0,)).against == ("ordinal 0 had 0 Pods to begin with",)


def test_a_pod_created_and_gone_within_the_step_is_not_missed() -> None:
    story = Story(settled(1)).put(pod(1), pod(2)).gone("p2")
    assert claims.only_came(story.window, (1,)).against == ("Pods were created for 1, 2",)
    assert claims.only_came(story.window, (1, 2)).holds
    assert claims.only_came(still(settled(1)), ()).holds


def test_a_scale_down_that_sheds_the_highest_holds() -> None:
    story = Story(settled(4)).put(pod(3, leaving=True), pod(2, leaving=True)).gone("w-p3", "w-p2", "p2", "p3")
    verdict = claims.only_highest_left(story.window, 2)
    assert verdict.claim == "replicas 3, 2 left, the highest, Pods and Workloads both"
    assert verdict.holds


def test_a_scale_down_that_leaves_a_workload_or_sheds_a_low_ordinal_does_not_hold() -> None:
    leftover = Story(settled(2)).put(pod(1, leaving=True)).gone("p1")
    assert claims.only_highest_left(leftover.window, 1).against == ("Workload group-w-p1 of ordinal 1 is still there",)
    low = Story(settled(2)).put(pod(0, leaving=True)).gone("w-p0", "p0")
    assert claims.only_highest_left(low.window, 1).against == (
        "Pod chat-server-p1 of ordinal 1 is still there",
        "Workload group-w-p1 of ordinal 1 is still there",
        "ordinal 0 was asked to leave",
    )


def test_a_rollout_one_replica_at_a_time_holds() -> None:
    story = Story(settled(3))
    for ordinal in (2, 1, 0):
        story.swapped(ordinal, f"p{ordinal}", f"n{ordinal}", image="new")
    assert claims.one_at_a_time(story.window, 3).holds
    assert claims.replaced_in_order(story.window, (2, 1, 0)).holds
    assert claims.successors_waited(story.window).holds
    assert claims.all_on_image(story.window, "new").holds


def test_two_replicas_missing_for_one_moment_are_seen_though_both_came_back() -> None:
    story = Story(settled(3)).put(pod(2, leaving=True), pod(1, leaving=True)).gone("w-p2", "p2", "w-p1", "p1")
    story.put(pod(2, "n2"), workload("n2"), pod(1, "n1"), workload("n1"))
    assert claims.one_at_a_time(story.window, 3).against == ("at one moment only 1 served",)


def test_another_order_and_a_second_replacement_are_seen() -> None:
    upwards = Story(settled(2)).swapped(0, "p0", "n0").swapped(1, "p1", "n1")
    assert claims.replaced_in_order(upwards.window, (1, 0)).against == ("Pods came in the order 0, 1",)
    twice = Story(settled(1)).swapped(0, "p0", "n0").swapped(0, "n0", "m0")
    assert claims.replaced_in_order(twice.window, (0,)).against == ("Pods came in the order 0, 0",)


def test_a_replacement_beside_its_predecessor_is_seen() -> None:
    story = Story(settled(1)).put(pod(0, leaving=True), pod(0, "n0"), workload("n0")).gone("w-p0", "p0")
    assert claims.successors_waited(story.window).against == (
        "Pod chat-server-n0 was created before chat-server-p0 of ordinal 0 had gone",
    )


def test_a_replacement_whose_predecessor_never_went_is_seen() -> None:
    story = Story(settled(1)).put(pod(0, "n0"))
    assert claims.successors_waited(story.window).against == (
        "Pod chat-server-n0 was created before chat-server-p0 of ordinal 0 had gone",
        "ordinal 0 still has the Workload of chat-server-p0",
    )


def test_a_replacement_of_the_same_name_and_one_of_nobody_are_seen() -> None:
    again = Story(settled(1)).gone("w-p0", "p0").put(pod(0, "n0", name="chat-server-p0"))
    assert claims.successors_waited(again.window).against == (
        "the replacement of ordinal 0 is called chat-server-p0 again",
    )
    nobody = Story(settled(1)).put(pod(5))
    assert claims.successors_waited(nobody.window).against == (
        "Pod chat-server-p5 replaces nobody: ordinal 5 was free",
    )


def test_a_pod_on_the_old_image_is_seen() -> None:
    mixed = world(pod(0, image="new"), pod(1))
    assert claims.all_on_image(still(mixed), "new").against == ("Pod chat-server-p1 runs old",)


def test_whatever_is_left_is_named() -> None:
    assert claims.nothing_left(still(World())).holds
    assert claims.nothing_left(still(settled(1))).against == (
        "the deployment chat is left",
        "Pod chat-server-p0 is left",
        "Workload group-w-p0 is left",
        "Service chat is left",
    )


def test_lines_in_which_the_operator_complained_speak_against_it() -> None:
    assert claims.no_complaints(()).holds
    assert claims.no_complaints(("error pass failed",)).against == ("error pass failed",)


def test_a_seat_that_is_new_had_nobody_to_wait_for() -> None:
    grown = Story(settled(1)).put(pod(1))
    assert claims.successors_waited(grown.window, (("server", 1),)).holds
    assert not claims.successors_waited(grown.window, (("prefill", 1),)).holds


def test_a_replica_of_another_role_is_nobodys_predecessor() -> None:
    story = Story(world(pod(0), pod(0, "d0", role="decode"))).gone("d0").put(pod(0, "d1", role="decode"))
    assert claims.successors_waited(story.window).holds


def test_replicas_that_took_every_step_one_after_the_other_have_retired() -> None:
    story = Story(settled(6)).retired(5).retired(4)
    verdict = claims.retired(story.window, (5, 4))
    assert (verdict.claim, verdict.against) == (
        "replicas 5, 4 retired one after the other, each withdrawn and read idle before its Pod was deleted",
        (),
    )


def test_a_pod_that_was_deleted_before_anything_was_proven_has_not_retired() -> None:
    early = Story(settled(2)).retiring(1, "Admitted").put(pod(1, leaving=True)).gone("p1", "w-p1").retiring(1)
    assert claims.retired(early.window, (1,)).against == (
        "the steps were 1 Admitted",
        "Pod chat-server-p1 was asked to leave before anything was proven",
    )
    plain = Story(settled(2)).put(pod(1, leaving=True)).gone("p1", "w-p1")
    assert claims.retired(plain.window, (1,)).against == (
        "the steps were none",
        "Pod chat-server-p1 was asked to leave before anything was proven",
    )
    (against,) = claims.retired(Story(settled(6)).retired(4).retired(5).window, (5, 4)).against
    assert against.startswith("the steps were 4 Admitted, 4 Disqualified, 4 Withdrawing, 4 Draining, 4 Deleting, ")
