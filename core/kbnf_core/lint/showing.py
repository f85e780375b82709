"""How findings show texts."""

_MAX_SHOWN = 60


def show(word: bytes) -> str:
    """Return a text in quotes, its hidden characters escaped, the middle of a long one left out."""
    text = word.decode("utf-8", "backslashreplace")
    if len(text) > _MAX_SHOWN:
        half = _MAX_SHOWN // 2
        text = f"{text[:half]}...{text[-half:]}"
    return repr(text)
