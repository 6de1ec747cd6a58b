"""What each router is: the engines it serves, the flags the operator derives, and what it asks of engine Pods."""
