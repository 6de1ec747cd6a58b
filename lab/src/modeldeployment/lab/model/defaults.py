"""What the API server fills in when an object is created, as far as somebody reads it."""

from collections.abc import Callable

from modeldeployment.lab.model.resources import JSON, Resource


def defaulted(find_priority: Callable[[str], int]) -> Callable[[Resource, JSON], JSON]:
    """Make the admission step that fills in; `find_priority` resolves a PriorityClass by name."""
    addresses = iter(range(1, 1 << 16))

    def admit(of: Resource, thing: JSON) -> JSON:
        if of.plural == "pods":
            spec = {"terminationGracePeriodSeconds": 30, "schedulerName": "default-scheduler", **thing["spec"]}
            if name := spec.get("priorityClassName"):
                spec["priority"] = find_priority(name)
            return {**thing, "spec": spec, "status": {"phase": "Pending", "qosClass": "Burstable"}}
        if of.plural == "services":
            number = next(addresses)
            spec = {"clusterIP": f"10.96.{number // 256}.{number % 256}", "type": "ClusterIP", **thing["spec"]}
            spec = {"sessionAffinity": "None", "internalTrafficPolicy": "Cluster", **spec}
            return {**thing, "spec": spec, "status": {"loadBalancer": {}}}
        return thing

    return admit
