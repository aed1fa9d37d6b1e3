"""Other programs' memory, read: files in, records with their provenance and findings out."""
