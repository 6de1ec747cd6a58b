"""Fixtures of the conformance tests; each is defined beside the builders it belongs to."""

from conformance_routers import begin as begin
from conformance_withdrawing import cluster as cluster
