"""The program's first step: the collector of garbage rests until the process stands."""

import gc


def main() -> None:
    """Run the command line.

    Importing makes nothing but what stays, and looking through it again and again is a fifth of a start.
    `process.run` lets the collector work again.
    """
    gc.disable()
    from modeldeployment.operator import commands

    commands.main()
