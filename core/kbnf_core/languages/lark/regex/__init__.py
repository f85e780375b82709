"""Regular expressions of Python's ``re``, with its rule of the leftmost match."""
