"""Turn source text into claims in two judged passes. Pure functions that receive a Judge."""
