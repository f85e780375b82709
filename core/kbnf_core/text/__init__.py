"""Texts and what is said of them: sources, findings, errors, limits, files."""
