"""Take back what was done."""
