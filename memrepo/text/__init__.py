"""Read language: words, sentences, dates and numbers, by one table per language."""
