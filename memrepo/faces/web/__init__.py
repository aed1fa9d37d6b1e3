"""The memory as pages on this machine: looked at in a browser, decided by the same verbs."""
