"""The lab's fixtures for every test (control plane, client, namespace, queues), and no test fails for being slow."""

from hypothesis import HealthCheck, settings

pytest_plugins = ["modeldeployment.lab.pytest_plugin"]

settings.register_profile("unhurried", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")
