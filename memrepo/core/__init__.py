"""Data types, the schema, the codec and pure state. No access to clock, disk, network or git."""
