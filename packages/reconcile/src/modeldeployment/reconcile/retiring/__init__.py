"""Retirement: a replica leaves by the spec only once nothing is served by it; a pure state machine over plain data.

`intents` says which replica leaves next, `machine.advance` takes a reservation one step further, `evidence` is what is
witnessed for it meanwhile. Source: facts reconcile §7, facts shutdown §2 to §4, decisions D6 to D10, D39, D49.
"""
