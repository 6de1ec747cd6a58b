"""Kueue 0.18.4 as far as groups of plain Pods go: webhook, groups, reservation and checks (facts kueue §3 to §6)."""
