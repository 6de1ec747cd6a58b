"""Why a replica does not serve: the chain from what is seen to what causes it, by the controllers' own functions."""
