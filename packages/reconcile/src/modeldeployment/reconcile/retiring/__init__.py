"""Retirement: a replica leaves by the spec only once nothing is served by it; a pure state machine over plain data."""
