"""Runtimes: the ways of getting a cluster for the lab.

`processes` is the lab's own control plane; `kubeconfig` is any cluster that is already there; `kwokctl` and `kind` are
used where their programs and a container engine are present, and are skipped with the reason where not.
"""
