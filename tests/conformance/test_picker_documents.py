"""The picker's document is one the picker reads: its program is started with it.

MODELDEPLOYMENT_LAB_PICKER names a picker of the routers' own version, v0.10.0, which is shown the whole document and
knows every field of it. Without one the pinned v0.7.1 is shown what it knows: the plugins it has, the profiles and what
they refer to. Unproven then: the API version, the fields of parameters, the data layer, and the plugin types in
`lab.routers.older.UNKNOWN`, none of which that version has or checks.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from conformance_documents import (
    SHAPES,
    Verdict,
    documents,
    environment,
    replaced,
    shown_to,
)
from modeldeployment.lab.errors import GoMissing, GoTooOld, ModulesUnreachable
from modeldeployment.lab.networks import lonely
from modeldeployment.lab.routers import older
from modeldeployment.lab.toolchain.picker import Picker, ensure_picker

Show = Callable[[str, str], Verdict]


@pytest.fixture(scope="session")
def picker() -> Picker:
    """The picker program; built on first use, which takes minutes."""
    if why := lonely():
        pytest.skip(why)
    try:
        return ensure_picker(environment(), lambda _: None)
    except (GoMissing, GoTooOld, ModulesUnreachable) as missing:
        pytest.skip(f"no picker to show documents to: {missing}")


@pytest.fixture
def show(picker: Picker, tmp_path: Path) -> Show:
    """Show the picker a document, cut down to what the pinned one knows; the other argument is its selector."""

    def shown(document: str, selector: str) -> Verdict:
        return shown_to(picker, older.document(document) if picker.pinned else document, selector, tmp_path)

    return shown


@pytest.fixture
def own(picker: Picker, show: Show) -> Show:
    """The same, where the picker is one of the routers' own version."""
    if picker.pinned:
        pytest.skip("the pinned picker v0.7.1 does not check this; MODELDEPLOYMENT_LAB_PICKER names one of v0.10.0")
    return show


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("engine", ["vLLM", "SGLang"])
def test_the_picker_takes_the_document_of_every_shape(engine: str, shape: str, show: Show) -> None:
    data = documents(engine, shape)
    verdict = show(data["epp.yaml"], data["endpoint-selector"])
    assert verdict.accepted, verdict.errors


@pytest.mark.parametrize("threshold", [0, 96])
def test_the_picker_takes_every_threshold(threshold: int, show: Show) -> None:
    data = documents("vLLM", "pair", disaggregationThresholdTokens=threshold)
    assert show(data["epp.yaml"], data["endpoint-selector"]).accepted


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("type: queue-scorer", "type: queue-scorerr", "plugin type 'queue-scorerr' is not registered"),
        ("pluginRef: decode-pods", "pluginRef: decode-podz", "undefined plugin 'decode-podz'"),
        ("schedulingProfiles:", "schedulingProfile:", 'unknown field "schedulingProfile"'),
        ("prefill: prefix-based-pd-decider", "prefill: prefix-decider", "prefix-decider"),
    ],
    ids=["a-type", "a-reference", "a-field", "a-decider"],
)
def test_a_plugin_it_does_not_have_is_refused(old: str, new: str, said: str, show: Show) -> None:
    data = documents("vLLM", "pair")
    verdict = show(replaced(data["epp.yaml"], old, new), data["endpoint-selector"])
    assert not verdict.accepted
    assert said in verdict.errors


@pytest.mark.parametrize(
    ("shape", "old", "new"),
    [
        ("pair", "nonCachedTokens", "nonCachedToken"),
        ("pair", "deciders:", "decider:"),
        ("pair", "matchLabels:", "matchLabel:"),
        ("pair", "replaySocketPort", "replayPort"),
        ("pair", "queuedRequestsSpec", "queuedRequestSpec"),
        ("encode", "estimate:", "estimated:"),
    ],
)
def test_a_parameter_it_does_not_have_is_refused(shape: str, old: str, new: str, own: Show) -> None:
    data = documents("vLLM", shape)
    verdict = own(replaced(data["epp.yaml"], old, new), data["endpoint-selector"])
    assert not verdict.accepted
    assert f'unknown field "{new.rstrip(":")}"' in verdict.errors


def test_a_selector_it_cannot_read_is_refused(own: Show) -> None:
    assert not own(documents("vLLM", "pair")["epp.yaml"], "a in (b").accepted


def test_what_the_pinned_picker_is_not_shown_is_named_here_and_nothing_more() -> None:
    shown, whole = set[str](), set[str]()
    for engine in ("vLLM", "SGLang"):
        for shape in SHAPES:
            document = documents(engine, shape)["epp.yaml"]
            shown |= {plugin["type"] for plugin in yaml.safe_load(older.document(document))["plugins"]}
            whole |= {plugin["type"] for plugin in yaml.safe_load(document)["plugins"]}
    assert whole - shown == older.UNKNOWN | set(older.RENAMED)
    assert shown - whole == {*older.RENAMED.values(), older.ADDED}
