"""Recognises files that are written in another grammar language."""
