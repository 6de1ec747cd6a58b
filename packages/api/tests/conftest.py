"""What of these tests needs more than this package."""

from importlib.util import find_spec

# The package stands alone; its definitions are tried on a real API server only where the lab is there to start one.
collect_ignore_glob = [] if find_spec("modeldeployment.lab") else ["test_lab_*.py"]
