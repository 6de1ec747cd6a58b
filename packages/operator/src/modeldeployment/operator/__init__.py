"""The operator: settings, process, command line."""
