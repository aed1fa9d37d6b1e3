"""Pure functions that compute changes from the state, access log, time and configuration."""
