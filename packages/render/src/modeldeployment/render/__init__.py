"""A deployment and the facts of a cluster, rendered into Pods and Services."""
