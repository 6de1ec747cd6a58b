"""Set admission, decided: which groups of a set open together, which wait, which park and which yield."""
