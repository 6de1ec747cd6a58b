"""Text files that travel inside the package."""

# importlib.resources would do, but importing it costs a tenth of this package's whole import.
import pkgutil


def text(path: str) -> str:
    """Read a file of this package, by its path below the package."""
    found = pkgutil.get_data("modeldeployment.render", path)
    if found is None:
        raise FileNotFoundError(path)
    return found.decode("ascii")
