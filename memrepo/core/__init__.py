"""Types, the one schema, the codec and pure state: no clock, disk, network or git."""
