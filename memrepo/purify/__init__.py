"""Turn source text into claims in two passes that a judge decides."""
