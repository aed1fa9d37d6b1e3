"""Read sources: documents, the statements in them, and the kinds of files and sections."""
