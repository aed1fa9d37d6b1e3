"""Data types, the schema, the codec and pure state. Uses no clock, disk, network or git."""
