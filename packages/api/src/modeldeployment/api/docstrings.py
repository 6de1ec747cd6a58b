"""The docstrings written under the fields of a model, read from its source when a schema asks for them.

Pydantic can do this too, but while a class is made, which costs every importer of this package half its import.
"""

import ast
import inspect
import textwrap
from itertools import pairwise


def of_fields(model: type) -> dict[str, str]:
    """Return the docstring of each field of `model` that has one, inherited fields included, on one line."""
    docs: dict[str, str] = {}
    for owner in reversed(model.__mro__):
        if "__annotations__" in vars(owner) and owner.__module__.partition(".")[0] != "pydantic":
            docs |= _own(owner)
    return docs


def _own(owner: type) -> dict[str, str]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(definition, ast.ClassDef)
    return {
        field.target.id: " ".join(inspect.cleandoc(said.value.value).split())
        for field, said in pairwise(definition.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(said, ast.Expr)
        and isinstance(said.value, ast.Constant)
        and isinstance(said.value.value, str)
    }
