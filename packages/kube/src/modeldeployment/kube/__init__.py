"""The rim to a Kubernetes API server: client, reflector, store, queue, leader election, events."""
