"""Readings of engines, turned into one vector of replica counts with a reason for each."""
