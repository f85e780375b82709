"""Regular expressions of fixed texts."""

import re

_SPECIAL = re.compile(r"([\\.^$|?*+()\[\]{}&~#-])")


def escaped(value: str) -> str:
    """Return a regular expression of one text."""
    return _SPECIAL.sub(r"\\\1", value)
