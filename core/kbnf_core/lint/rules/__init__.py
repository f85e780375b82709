"""The lints, one per file."""
