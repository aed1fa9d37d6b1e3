"""Analyse text: words, sentences, dates and numbers, with one table per language."""
