"""Parse trees: which rules matched which parts of a text."""
