"""Bugs of retirement: replicas that leave too early, or never."""

from typing import Final

from modeldeployment.lab.crashes.bugs.bug import Bug, bug

RETIRING: Final[tuple[Bug, ...]] = (
    bug(
        "deletes-at-once",
        "a replica that the spec does not want any more is deleted in the first pass",
        "scale-down that cuts requests in flight; every operator before it drained",
        (
            "deciding/turnover.py",
            "for each in (*_ended(role), *_shed(role)) if not",
            "for each in (*retiring(role), *_ended(role), *_shed(role)) if not",
        ),
    ),
    bug(
        "deletes-unproven",
        "a retirement goes on whatever routers and engines say",
        "drain time-outs that end in the delete",
        (
            "retiring/machine.py",
            "    waits = [leg for leg in legs if leg.verdict is not Verdict.PROVEN]\n",
            "    waits = [leg for leg in legs if leg.verdict is Verdict.IMPOSSIBLE]\n",
        ),
        (
            "retiring/machine.py",
            "if withdrawal.verdict is not Verdict.PROVEN or any(each.eligible for each in scene.target):",
            "if any(each.eligible for each in scene.target):",
        ),
    ),
    bug(
        "label-stays-on",
        "the eligibility label is not taken off a replica that retires",
        "endpoints that are drained and still sent requests",
        (
            "deciding/retirement.py",
            "            asked += [SetEligibility(each.name, each.uid, False) for each in target if each.eligible]\n",
            "            pass\n",
        ),
    ),
    bug(
        "deaf-to-retries",
        "a request to retry is not heeded",
        "annotations that are read by nobody",
        ("retiring/machine.py", "(asked or anew) and wants.held(mine) is None", "anew and wants.held(mine) is None"),
    ),
    bug(
        "never-over",
        "a retirement whose replica is gone stays as it is, and nobody else may leave",
        "finalizer-like state that is never cleared",
        (
            "retiring/machine.py",
            "        return Turn(None, ended=RetirementState.COMPLETED)\n",
            "        return Turn(stored, ended=RetirementState.COMPLETED)\n",
        ),
    ),
)
