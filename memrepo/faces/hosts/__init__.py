"""The hooks of the programs that agents run in."""
