"""Benchmarks: every figure is a ratio to a baseline that is measured in the same run."""
