"""Refusals as the API server spells them."""

from modeldeployment.kube import errors
from modeldeployment.lab.model.resources import Resource


def not_found(of: Resource, name: str) -> errors.NotFound:
    """404."""
    return errors.NotFound(404, "NotFound", f'{of.qualified} "{name}" not found', _details(of, name))


def exists(of: Resource, name: str) -> errors.AlreadyExists:
    """409 to a create."""
    return errors.AlreadyExists(409, "AlreadyExists", f'{of.qualified} "{name}" already exists', _details(of, name))


def modified(of: Resource, name: str) -> errors.Conflict:
    """409: another version stands."""
    message = (
        f'Operation cannot be fulfilled on {of.qualified} "{name}": the object has been modified; please apply your '
        "changes to the latest version and try again"
    )
    return errors.Conflict(409, "Conflict", message, _details(of, name))


def other_uid(of: Resource, name: str, wanted: str, standing: str) -> errors.Conflict:
    """409: another object of that name stands."""
    message = (
        f'Operation cannot be fulfilled on {of.qualified} "{name}": Precondition failed: UID in precondition: '
        f"{wanted}, UID in object meta: {standing}"
    )
    return errors.Conflict(409, "Conflict", message, _details(of, name))


def invalid(of: Resource, name: str, field: str, why: str) -> errors.Invalid:
    """422."""
    details = errors.Details(name, of.group, of.kind, causes=(errors.Cause("FieldValueInvalid", why, field),))
    return errors.Invalid(422, "Invalid", f'{of.kind} "{name}" is invalid: {field}: {why}', details)


def unreachable_webhook(name: str) -> errors.ServerFailure:
    """500: a webhook that must be asked does not answer."""
    message = f'Internal error occurred: failed calling webhook "{name}": connect: connection refused'
    return errors.ServerFailure(500, "InternalError", message, errors.Details())


def _details(of: Resource, name: str) -> errors.Details:
    return errors.Details(name, of.group, of.plural)
