"""Flavors: the Kueue objects and the InstanceType that let a ModelDeployment run on a fleet."""
