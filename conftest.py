"""The lab's fixtures for every test: control plane, client, namespace, queues."""

pytest_plugins = ["modeldeployment.lab.pytest_plugin"]
