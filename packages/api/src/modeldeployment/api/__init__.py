"""The vocabulary of ModelDeployment: kinds, keys, names, conditions and CRDs."""
