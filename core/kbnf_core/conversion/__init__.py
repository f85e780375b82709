"""Shared parts of conversions between languages: losses, names, layout, and checks."""
