"""Lints: checks for grammars that are valid but may not do what their author means."""
