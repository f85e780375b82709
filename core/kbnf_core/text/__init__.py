"""Texts and what is reported of them: sources, findings, errors, limits, files."""
