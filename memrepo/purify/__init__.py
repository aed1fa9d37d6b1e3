"""From source text to claims in two judged passes; pure, handed a Judge."""
