"""Whether tables can be built: they are arrays of NumPy, and a browser may have none."""

from importlib.util import find_spec


def has_tables() -> bool:
    """Tell whether NumPy is there; what needs no tables works without it."""
    return find_spec("numpy") is not None
