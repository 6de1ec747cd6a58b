"""The Parts a Pod is made of, one subject each; the order is in `engines`."""
