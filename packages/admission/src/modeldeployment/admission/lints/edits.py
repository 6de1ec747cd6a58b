"""Edits that change more than was meant."""

from collections.abc import Iterator
from typing import Any, Final

from modeldeployment.admission.examples import GONE, Example
from modeldeployment.admission.lints.cautioning import lint
from modeldeployment.admission.patching import put
from modeldeployment.admission.rule import Row
from modeldeployment.admission.rules.deployments.serving import listens_as_stored, own_port
from modeldeployment.admission.subjects import DeploymentReview
from modeldeployment.admission.verdict import Caution, brief
from modeldeployment.api import Role

_EDITABLE: Final = {
    name: str(Role.model_fields[name].alias)
    for name in (
        "image",
        "image_pull_policy",
        "image_pull_secrets",
        "privileged",
        "ports",
        "additional_volumes",
        "extra_args",
        "env",
        "topology",
        "termination_grace_period_seconds",
    )
}
"""What a role may or may not say, and may take back at any time, with its spelling in JSON."""

_FULL: Final = {
    "spec.roles[0].extraArgs": ["--max-model-len=4096"],
    "spec.roles[0].env": [{"name": "HF_HUB_OFFLINE", "value": "1"}],
}


@lint(
    trigger=Example({"spec.roles[0].replicas": 5}, old=_FULL),
    near_miss=Example({**_FULL, "spec.roles[0].replicas": 5, "spec.roles[0].env": GONE}, old=_FULL),
)
def fields_dropped(review: DeploymentReview) -> Iterator[Caution]:
    """MDW23 | spec.roles[*] | An edit of one field that also dropped all the role's others reads like a merge patch.

    `kubectl patch --type=merge` replaces the list of roles whole: a role restated to change its replicas loses whatever
    was not restated, and its replicas are replaced by ones without it. It is said where at least two of the role's
    editable fields are gone at once, none of them stands as it was, and something was given a new value.

    Way out: a JSON patch of the one field (`--type=json`, `/spec/roles/0/replicas`), or `kubectl apply` of the whole
    object. Where the loss was meant, nothing is to be done.

    Source: spec 1 §Deployment identity fields.
    """
    for each in review.roles:
        old, new = each.old, each.role
        if old is None or old == new:
            continue
        changed, stands, gone = old.replicas != new.replicas, False, []
        for name in _EDITABLE:
            before, after = getattr(old, name), getattr(new, name)
            if before == after:
                stands = stands or bool(before)
            elif after:
                changed = True
            elif before:
                gone.append(name)
        if not changed or stands or len(gone) < 2:  # one alone may well be an edit of its own
            continue
        kept = old.body()
        lost = [_EDITABLE[name] for name in gone]
        yield Caution(
            "MDW23",
            each.path,
            lost,
            why=f"this write also takes away {brief(', '.join(lost), 72)}, as a merge patch does to what a role does "
            "not restate",
            way_out="if that was not meant, restate them, or change one field with --type=json",
            patch=tuple(put(f"{each.path}.{name}", kept[name]) for name in lost),
        )


_BEHIND_PROXY: Final = {
    "spec.roles": [
        {
            "name": "decode",
            "kind": "Decode",
            "instanceType": "h20-8x",
            "resources": {"accelerator": 1},
            "ports": [{"port": 8000}],
            "extraArgs": ["--enable-scale-out", "--port", "9000"],
        }
    ],
    "spec.router": {"name": "llm-d-router"},
}


@lint(
    trigger=Example({**_BEHIND_PROXY, "spec.router": GONE}, old=_BEHIND_PROXY),
    near_miss=Example(_BEHIND_PROXY, old=_BEHIND_PROXY),
)
def engine_left_off_its_port(review: DeploymentReview) -> Iterator[Caution]:
    """MDW27 | spec.roles[*].extraArgs | A stored `--port` that is not the role's first port leaves nobody there.

    Behind `llm-d-router` a decoder's proxy serves the first of `ports` and hands on to the engine's own `--port`. Take
    the router away and the proxy goes with it: Services reach the Pod at the first port, where nobody listens any more.
    MD029 refuses two such ports, but leaves a stored role alone whose ports and arguments an edit does not touch.

    Way out: drop `--port` in the same edit; the operator then passes the declared one.

    Source: facts admission §4 row 29 and §8.
    """
    for each in review.roles:
        if not each.role.ports or review.proxied(each) or not listens_as_stored(each):
            continue
        declared, own = each.role.ports[0].port, own_port(each)
        if own not in (None, declared):
            yield Caution(
                "MDW27",
                each.stream_path,
                own,
                why=f"the engine listens on {own} and no routing proxy stands before it, so whoever dials the role at "
                f"{declared} finds nobody",
                way_out=f"drop --port, or put {own} first in {each.path}.ports",
            )


LINTS: Final[tuple[Row[Any, Any], ...]] = (fields_dropped, engine_left_off_its_port)
