"""The engine's command line: all of it in `command`, in runs whose order is the order of the Parts.

Source: facts rendering §3, spec 1 §The three override tiers.
"""

from modeldeployment.render.compose import ARGV, Fragment, FromUser
from modeldeployment.render.context import Context
from modeldeployment.render.parts.places import MAIN


def engine_arguments(context: Context) -> Fragment:
    """Start the program with the model it serves."""
    model = context.weights.model if context.weights else context.deployment.spec.model.name
    return {(*MAIN, ARGV, "engine"): context.engine.base_argv(model)}


def user_arguments(context: Context) -> Fragment:
    """Append the role's own arguments as they are."""
    return {(*MAIN, ARGV, "extraArgs"): FromUser(context.role.extra_args)}


def listen_arguments(context: Context) -> Fragment:
    """Append host and port, each only where the role's own arguments do not say it."""
    flags, listener = context.engine.listen, context.listener
    host = () if listener.host_given else (flags.host, "0.0.0.0")  # noqa: S104 -- a Pod is reached by its own address
    port = () if listener.port_given else (flags.port, str(listener.engine_port))
    return {(*MAIN, ARGV, "host"): host, (*MAIN, ARGV, "port"): port}


def taken_over(context: Context) -> Fragment:
    """Run the user's command line and nothing of ours."""
    return {(*MAIN, ARGV, "command"): FromUser(context.role.command)}
