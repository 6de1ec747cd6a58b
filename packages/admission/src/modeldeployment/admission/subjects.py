"""What the rows judge: the submitted object beside the stored one, with what several rows read worked out once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from modeldeployment.admission.facts import Actor, Facts
from modeldeployment.api import InstanceType, ModelDeployment, Role, RoleKind, RouterName
from modeldeployment.api.scaler import ModelDeploymentScaler, ScaledRole, ScalerSpec
from modeldeployment.render import (
    DTYPE_FLAG,
    ENGINES,
    SERVED_MODEL_NAME,
    Degrees,
    Engine,
    Given,
    Listener,
    Unreadable,
    degrees,
    listener,
)
from modeldeployment.router import ROUTERS, RouterRow

_OWNED: Final = {
    engine.name: frozenset(
        (
            *engine.owned_arguments,
            DTYPE_FLAG,
            *engine.artifact_arguments,
            *engine.encode_arguments,
            *engine.embeds_arguments,
        )
    )
    for engine in ENGINES.values()
}
"""By engine, every argument the operator writes under some condition."""

_ASKED_FOR: Final = ("--additional-config", "--api-key", "--config", "--enable-scale-out", SERVED_MODEL_NAME)


@dataclass(frozen=True, eq=False)
class Line:
    """One command line as an engine reads it, read once for all rows and for all roles of a review that have it."""

    engine: Engine
    arguments: tuple[str, ...]
    _degrees: dict[str | None, Degrees | Unreadable] = field(default_factory=dict, repr=False)

    @cached_property
    def found(self) -> tuple[Given, ...]:
        """The flags that several rows ask for, by full spelling and in order."""
        return tuple(self.engine.flags.find(self.arguments, (*_ASKED_FOR, *self.engine.listen.all())))

    @cached_property
    def given(self) -> Mapping[str, str | None]:
        """The same flags with the last value of each."""
        return {found.flag: found.value for found in self.found}

    @cached_property
    def spelled(self) -> tuple[tuple[int, str], ...]:
        """Entries that may stand for an argument the operator writes, with their index."""
        owns, keys = self.engine.owns, _OWNED[self.engine.name]
        return tuple(
            (index, argument)
            for index, argument in enumerate(self.arguments)
            if argument.startswith("--") and owns(argument, keys)
        )

    @cached_property
    def served_names(self) -> tuple[str, ...] | None:
        """The names it serves the model under; None where it says nothing about it."""
        return self.engine.served_names(self.arguments) if SERVED_MODEL_NAME in self.given else None

    def degrees(self, variable: str | None) -> Degrees | Unreadable:
        """The parallel degrees it declares beside the engine's one variable (facts admission §6)."""
        if variable not in self._degrees:
            env = {} if variable is None else {self.engine.degrees.variable: variable}
            self._degrees[variable] = degrees.read(self.engine, self.arguments, env)
        return self._degrees[variable]


@dataclass(frozen=True)
class RoleReview:
    """One role of the submitted deployment and, matched by name, the stored one."""

    index: int
    role: Role
    old: Role | None
    line: Line
    """What its engine reads from the user: the command where there is one (spec 2 §Pair connections)."""

    @property
    def engine(self) -> Engine:
        """The engine of every role."""
        return self.line.engine

    @property
    def path(self) -> str:
        """Field path of the role."""
        return f"spec.roles[{self.index}]"

    @property
    def stream(self) -> tuple[str, ...]:
        """The arguments of its line."""
        return self.line.arguments

    @property
    def stream_path(self) -> str:
        """Field path of those arguments."""
        return f"{self.path}.{'command' if self.role.command else 'extraArgs'}"

    @property
    def own_command(self) -> str:
        """Where its user may own the whole command line; `command` of a stored role is fixed."""
        return f"{self.path}.command{'' if self.old is None else ' of another deployment, since it is fixed here'}"

    @cached_property
    def listener(self) -> Listener:
        """Where it listens, were there no proxy beside it."""
        return listener(self.role, self.engine, self.line.found)

    @cached_property
    def degrees(self) -> Degrees | Unreadable:
        """The parallel degrees its command line declares."""
        variable = self.engine.degrees.variable
        return self.line.degrees(next((each.value for each in self.role.env if each.name == variable), None))

    @property
    def spelled(self) -> tuple[tuple[int, str], ...]:
        """Entries of a managed role's `extraArgs` that may stand for an argument the operator writes, with their index.

        Beside a command nobody reads the list (spec 1 §The three override tiers).
        """
        return self.line.spelled if self.role.managed else ()

    @property
    def given(self) -> Mapping[str, str | None]:
        """The flags that several rows ask for, by full spelling, with the last value of each."""
        return self.line.given


@dataclass(frozen=True)
class DeploymentReview:
    """A submitted deployment, the stored one on an update, and what was looked up for them.

    `body` is the object as JSON with its defaults, for what the model does not carry; `submitted` is what came.
    """

    new: ModelDeployment
    old: ModelDeployment | None
    body: Mapping[str, Any]
    facts: Facts
    actor: Actor
    submitted: Mapping[str, Any] = field(default_factory=dict)

    @property
    def creating(self) -> bool:
        """Whether there is no stored object."""
        return self.old is None

    @property
    def deleting(self) -> bool:
        """Whether the object is on its way out."""
        return self.new.metadata.deletion_timestamp is not None

    @property
    def name(self) -> str:
        """Name of the deployment."""
        return self.new.metadata.name

    @cached_property
    def engine(self) -> Engine:
        """The engine of every role."""
        return ENGINES[self.new.spec.engine.name]

    @cached_property
    def router(self) -> RouterRow | None:
        """The router in front, None where the deployment names none."""
        return ROUTERS[RouterName(self.new.spec.router.name)] if self.new.spec.router else None

    @cached_property
    def roles(self) -> tuple[RoleReview, ...]:
        """Every submitted role, in declared order."""
        stored = {role.name: role for role in self.old.spec.roles} if self.old else {}
        lines = {arguments: Line(self.engine, arguments) for arguments in map(_line, self.new.spec.roles)}
        return tuple(
            RoleReview(index, role, stored.get(role.name), lines[_line(role)])
            for index, role in enumerate(self.new.spec.roles)
        )

    @cached_property
    def kinds(self) -> frozenset[RoleKind]:
        """The kinds declared."""
        return frozenset(role.kind for role in self.new.spec.roles)

    @property
    def pair(self) -> bool:
        """Whether the deployment declares both a Prefill and a Decode role."""
        return {RoleKind.PREFILL, RoleKind.DECODE} <= self.kinds

    def of_kind(self, *kinds: RoleKind) -> Iterator[RoleReview]:
        """The roles of those kinds, in declared order."""
        return (each for each in self.roles if each.role.kind in kinds)

    def proxied(self, role: RoleReview) -> bool:
        """Whether the router's proxy owns the role's serving port, so that its engine listens on another one."""
        proxies = self.router is not None and self.router.proxies_decode
        return proxies and role.role.managed and role.role.kind is RoleKind.DECODE

    def target_port(self, role: RoleReview) -> int:
        """The port of the Pod at which requests arrive (decisions D34)."""
        return role.listener.service_port if self.proxied(role) else role.listener.serving.number

    def instance_type(self, role: RoleReview) -> InstanceType | None:
        """The InstanceType the role names; None where there is none or nobody looked."""
        return self.facts.instance_types.get(role.role.instance_type)


@dataclass(frozen=True)
class ScalerReview:
    """A submitted scaler, the stored one on an update, and the deployment it targets.

    `body` is the object as JSON with its defaults, `submitted` what came.
    """

    new: ModelDeploymentScaler
    old: ModelDeploymentScaler | None
    body: Mapping[str, Any]
    facts: Facts
    actor: Actor
    submitted: Mapping[str, Any] = field(default_factory=dict)

    @property
    def creating(self) -> bool:
        """Whether there is no stored object."""
        return self.old is None

    @property
    def deleting(self) -> bool:
        """Whether the object is on its way out."""
        return self.new.metadata.deletion_timestamp is not None

    @property
    def target(self) -> ModelDeployment | None:
        """The deployment it scales; None where there is none yet or nobody looked (spec 3 §Resource)."""
        return self.facts.targets.get(self.new.spec.target_ref.name)

    @cached_property
    def scaled(self) -> Mapping[str, int]:
        """Index of the first entry of `spec.roles` of each name."""
        first: dict[str, int] = {}
        for index, role in enumerate(self.new.spec.roles):
            first.setdefault(role.name, index)
        return first

    @cached_property
    def fitted(self) -> ModelDeployment | None:
        """The target where this write has to fit it: the operator's own, and one that only suspends, need not."""
        if self.actor is Actor.OPERATOR or (self.old and self.new.spec == _suspended(self.old)):
            return None
        return self.target

    @cached_property
    def matched(self) -> tuple[tuple[int, ScaledRole, Role], ...]:
        """Every entry of `spec.roles` with its index and the role it names of the target it has to fit."""
        roles = {role.name: role for role in self.fitted.spec.roles} if self.fitted else {}
        return tuple(
            (index, scaled, roles[scaled.name])
            for index, scaled in enumerate(self.new.spec.roles)
            if scaled.name in roles
        )


def _line(role: Role) -> tuple[str, ...]:
    return role.command or role.extra_args


def _suspended(scaler: ModelDeploymentScaler) -> ScalerSpec:
    return scaler.spec.model_copy(update={"suspend": True})
