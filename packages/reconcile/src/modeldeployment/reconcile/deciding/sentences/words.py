"""How sentences put counts and names."""


def replicas(count: int) -> str:
    """So many replicas."""
    return "1 replica" if count == 1 else f"{count} replicas"


def routers(count: int) -> str:
    """So many replicas of a router."""
    return "1 router replica" if count == 1 else f"{count} router replicas"


def roles(names: tuple[str, ...]) -> str:
    """These roles, by name."""
    return ", ".join(f'role "{name}"' for name in names)


def are(count: int) -> str:
    """The verb for so many."""
    return "is" if count == 1 else "are"
