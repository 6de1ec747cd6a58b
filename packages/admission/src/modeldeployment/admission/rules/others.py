"""Cross-field rules of the kinds that no webhook reviews: their schema holds them in CEL, the command line here.

Sentences are those of the schema (`modeldeployment.api`); each row says the same at the same field as the API server.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from modeldeployment.admission import patching
from modeldeployment.admission.examples import Change, Example
from modeldeployment.admission.rule import Row, row
from modeldeployment.admission.verdict import Cause, Refusal
from modeldeployment.api import Quantity, artifact, instancetype, kvbackend, kvpool
from modeldeployment.api.cel import Rule

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Other:
    """An object of one of these kinds with its schema's defaults, and on an update the stored one."""

    new: Body
    old: Body | None

    def at(self, field: str) -> Any:
        """The value at a field path of the new object, None where there is none."""
        return patching.found(self.new, field)

    def before(self, field: str) -> Any:
        """The value at a field path of the stored object, None where there is none."""
        return None if self.old is None else patching.found(self.old, field)

    def moved(self, field: str) -> bool:
        """Whether the field is there before and after, and not the same."""
        new, old = self.at(field), self.before(field)
        return new is not None and old is not None and new != old


def refusals(new: Body, old: Body | None) -> tuple[Refusal, ...]:
    """Everything these rows refuse of one object; both with their schema's defaults, of any shape."""
    subject = Other(new, old)
    return tuple(refusal for each in RULES if _KINDS[each.code] == new.get("kind") for refusal in each.judge(subject))


def _refused(rule: Rule, subject: Other, field: str = "", cause: Cause = Cause.INVALID) -> Refusal:
    field = field or rule.field
    return Refusal(rule.code, field, subject.at(field), f"it {rule.why}", rule.way_out, cause)


def _amount(value: Any) -> Quantity | None:
    try:
        return Quantity.parse(value) if isinstance(value, str | int | float) else None
    except ValueError:
        return None  # the schema says so already


def _type(**spec: Any) -> Change:
    return {"kind": "InstanceType", "spec": {"os": "linux", "arch": "amd64"} | spec}


@row(trigger=Example(_type(arch="arm64"), old=_type()), near_miss=Example(_type(displayName="A10G"), old=_type()))
def instance_type_fixed(subject: Other) -> Iterator[Refusal]:
    """MD201 | spec | The shape of an InstanceType is fixed when it is created.

    Queues and running replicas were sized by it. Names for people and `inactive` stay editable.

    Source: facts api-dependencies §1.
    """
    if subject.old is None:
        return
    zeros: dict[str, Any] = {"acceleratable": False}
    rules = {rule.field: rule for rule in instancetype.FIXED}
    for name in ("acceleratorGroup", "generalGroup", "os", "arch", "acceleratable"):
        field, zero = f"spec.{name}", zeros.get(name, "")
        if (subject.at(field) or zero) != (subject.before(field) or zero):
            yield _refused(rules[field], subject)
    if (subject.at("spec.unitResources") is None) != (subject.before("spec.unitResources") is None):
        yield _refused(rules["spec.unitResources"], subject)
    elif subject.at("spec.unitResources") is not None:
        yield from (_refused(rule, subject) for rule in instancetype.FIXED_UNITS if _resized(subject, rule.field))
    if _resized(subject, "spec.localStorage"):
        yield _refused(rules["spec.localStorage"], subject)


def _resized(subject: Other, field: str) -> bool:
    return _amount(subject.at(field)) != _amount(subject.before(field))


@row(
    trigger=Example(_type(acceleratable=True)),
    near_miss=Example(_type(acceleratable=True, acceleratorGroup="nvidia-a10g")),
)
def group_missing(subject: Other) -> Iterator[Refusal]:
    """MD202 | spec.acceleratorGroup | An acceleratable InstanceType names the accelerator pool it draws on.

    Source: facts api-dependencies §1.
    """
    if subject.at("spec.acceleratable") is True and not subject.at("spec.acceleratorGroup"):
        yield _refused(instancetype.GROUP_NAMED, subject, cause=Cause.REQUIRED)


_MEMBERS: Final = [{"medium": "DRAM", "capacityPerMember": "64Gi"}]


def _backend(**connection: Any) -> Change:
    return {"kind": "KVCacheBackend", "spec": {"connection": connection, "transport": {"protocol": "TCP"}}}


@row(trigger=Example(_backend()), near_miss=Example(_backend(managed={"members": _MEMBERS})))
def connection_ambiguous(subject: Other) -> Iterator[Refusal]:
    """MD203 | spec.connection | A KVCacheBackend is either managed or external.

    Source: facts kv-cache §1.
    """
    given = [subject.at(f"spec.connection.{name}") is not None for name in ("managed", "external")]
    if subject.at("spec.connection") is not None and given[0] == given[1]:
        yield _refused(kvbackend.ONE_CONNECTION, subject)


@row(
    trigger=Example(
        _backend(managed={"members": [{"medium": "VRAM"}]}), old=_backend(managed={"members": [{"medium": "DRAM"}]})
    ),
    near_miss=Example(
        _backend(managed={"members": [{"medium": "DRAM"}, {"medium": "VRAM"}]}),
        old=_backend(managed={"members": [{"medium": "DRAM"}]}),
    ),
)
def medium_moved(subject: Other) -> Iterator[Refusal]:
    """MD204 | spec.connection.managed.members | What a member keeps blocks in is fixed for its position.

    Source: facts kv-cache §1.
    """
    field = "spec.connection.managed.members"
    new, old = _media(subject.at(field)), _media(subject.before(field))
    if new and old and any(one != other for one, other in zip(new, old, strict=False)):
        yield _refused(kvbackend.MEDIUM_FIXED, subject, field)


def _media(members: Any) -> list[Any]:
    return [patching.found(each, "medium") or "DRAM" for each in members] if isinstance(members, list) else []


def _pool(total: Any = "1Ti", *backends: str) -> Change:
    named = [{"name": name} for name in backends or ("mooncake",)]
    return {"kind": "KVCachePool", "spec": {"backends": named, "quota": {"total": total}}}


@row(trigger=Example(_pool("1Ti", "one", "two")), near_miss=Example(_pool("1Ti", "one")))
def backends_many(subject: Other) -> Iterator[Refusal]:
    """MD205 | spec.backends | A pool names exactly one backend.

    Source: decisions D44.
    """
    backends = subject.at("spec.backends")
    if isinstance(backends, list) and len(backends) != 1:
        yield _refused(kvpool.ONE_BACKEND, subject)


@row(
    trigger=Example(_pool("1Ti", "two"), old=_pool("1Ti", "one")),
    near_miss=Example(_pool("2Ti", "one"), old=_pool("1Ti", "one")),
)
def backends_moved(subject: Other) -> Iterator[Refusal]:
    """MD206 | spec.backends | The backend of a pool is fixed when the pool is created.

    Source: facts kv-cache §2.
    """
    if subject.moved("spec.backends"):
        yield _refused(kvpool.BACKENDS_FIXED, subject)


@row(trigger=Example(_pool("0")), near_miss=Example(_pool("1")))
def total_not_positive(subject: Other) -> Iterator[Refusal]:
    """MD207 | spec.quota.total | A pool grants from a positive amount.

    Source: facts kv-cache §2.
    """
    yield from _not_positive(kvpool.TOTAL_POSITIVE, subject)


def _not_positive(rule: Rule, subject: Other) -> Iterator[Refusal]:
    amount = _amount(subject.at(rule.field))
    if amount is not None and amount.nanos <= 0:
        yield _refused(rule, subject)


def _binding(pool: str = "dram", ceiling: Any = "100Gi", dtype: str = "bfloat16") -> Change:
    domain = {"name": "team-a", "blockSize": 128, "dtype": dtype}
    return {
        "kind": "KVCachePoolBinding",
        "spec": {"poolRef": {"name": pool}, "quota": {"ceiling": ceiling}, "domain": domain},
    }


@row(
    trigger=Example(_binding("other"), old=_binding()),
    near_miss=Example(_binding(ceiling="200Gi"), old=_binding()),
)
def pool_moved(subject: Other) -> Iterator[Refusal]:
    """MD208 | spec.poolRef | The pool of a binding is fixed when the binding is created.

    Source: facts kv-cache §3.
    """
    if subject.moved("spec.poolRef"):
        yield _refused(kvpool.POOL_FIXED, subject)


@row(
    trigger=Example(_binding(dtype="float16"), old=_binding()),
    near_miss=Example(_binding(ceiling="200Gi"), old=_binding()),
)
def domain_moved(subject: Other) -> Iterator[Refusal]:
    """MD209 | spec.domain | The reuse domain of a binding is fixed when the binding is created.

    Source: spec 1 §Inherited reuse domain.
    """
    if subject.moved("spec.domain"):
        yield _refused(kvpool.DOMAIN_FIXED, subject)


@row(trigger=Example(_binding(ceiling="-1Gi")), near_miss=Example(_binding(ceiling="1Gi")))
def ceiling_not_positive(subject: Other) -> Iterator[Refusal]:
    """MD210 | spec.quota.ceiling | A binding asks for a positive amount.

    Source: facts kv-cache §3.
    """
    yield from _not_positive(kvpool.CEILING_POSITIVE, subject)


@row(trigger=Example(_binding(dtype="auto")), near_miss=Example(_binding(dtype="fp8_e4m3")))
def dtype_open(subject: Other) -> Iterator[Refusal]:
    """MD211 | spec.domain.dtype | A reuse domain names its element type; `auto` names none.

    Source: spec 1 §Inherited reuse domain.
    """
    if subject.at("spec.domain.dtype") == "auto":
        yield _refused(kvpool.DTYPE_NAMED, subject)


def _artifact(source: Body, **spec: Any) -> Change:
    return {"kind": "ModelArtifact", "spec": {"source": source} | spec}


_HUB: Final = {"huggingFace": {"repository": "Qwen/Qwen2.5-72B-Instruct"}}
_SOURCES: Final = ("huggingFace", "modelScope", "persistentVolumeClaim", "image")
_CLAIM: Final = {"persistentVolumeClaim": {"claimName": "weights"}}


@row(
    trigger=Example(_artifact(_CLAIM), old=_artifact(_HUB)),
    near_miss=Example({**_artifact(_HUB), "metadata.labels": {"team": "a"}}, old=_artifact(_HUB)),
)
def artifact_fixed(subject: Other) -> Iterator[Refusal]:
    """MD212 | spec | An artifact is fixed when it is created.

    Source: facts api-dependencies §6.
    """
    if subject.moved("spec"):
        yield _refused(artifact.SPEC_FIXED, subject)


@row(trigger=Example(_artifact({**_HUB, **_CLAIM})), near_miss=Example(_artifact(_HUB)))
def source_ambiguous(subject: Other) -> Iterator[Refusal]:
    """MD213 | spec.source | An artifact has exactly one source.

    Source: facts api-dependencies §6.
    """
    source = subject.at("spec.source")
    if isinstance(source, Mapping):
        given = [name for name in source if name in _SOURCES and source[name] is not None]
        if len(given) != 1:
            yield _refused(artifact.ONE_SOURCE, subject)


@row(
    trigger=Example(_artifact(_CLAIM, allowPatterns=["*.safetensors"])),
    near_miss=Example(_artifact(_HUB, allowPatterns=["*.safetensors"])),
)
def patterns_without_hub(subject: Other) -> Iterator[Refusal]:
    """MD214 | spec | Patterns and an expected digest choose among the files of a hub, and need one as the source.

    Source: facts api-dependencies §6.
    """
    hub = [subject.at(f"spec.source.{name}") is not None for name in ("huggingFace", "modelScope")]
    for rule in artifact.HUB_ONLY:
        if subject.at(rule.field) is not None and not any(hub):
            yield _refused(rule, subject)


RULES: Final[tuple[Row[Any, Any], ...]] = (
    instance_type_fixed,
    group_missing,
    connection_ambiguous,
    medium_moved,
    backends_many,
    backends_moved,
    total_not_positive,
    pool_moved,
    domain_moved,
    ceiling_not_positive,
    dtype_open,
    artifact_fixed,
    source_ambiguous,
    patterns_without_hub,
)

_KINDS: Final = {
    rule.code: rule.kind
    for rule in (
        *instancetype.FIXED,
        instancetype.GROUP_NAMED,
        kvbackend.ONE_CONNECTION,
        kvbackend.MEDIUM_FIXED,
        kvpool.ONE_BACKEND,
        kvpool.BACKENDS_FIXED,
        kvpool.TOTAL_POSITIVE,
        kvpool.POOL_FIXED,
        kvpool.DOMAIN_FIXED,
        kvpool.CEILING_POSITIVE,
        kvpool.DTYPE_NAMED,
        artifact.SPEC_FIXED,
        artifact.ONE_SOURCE,
        *artifact.HUB_ONLY,
    )
}
