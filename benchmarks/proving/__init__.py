"""What memrepo claims, measured: each part is a table that docs/benchmarks.md shows."""
