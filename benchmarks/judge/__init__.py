"""Training of the small model and of the list of stock lines."""
