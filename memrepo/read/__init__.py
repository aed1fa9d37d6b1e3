"""Read sources: documents, the thoughts in them, and what each file and section is."""
