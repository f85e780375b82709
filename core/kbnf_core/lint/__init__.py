"""Checks of grammars that can be used but may not do what their writer means: one per file."""
