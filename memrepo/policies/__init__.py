"""Pure rules: they map state, access log, time and configuration to a list of changes."""
