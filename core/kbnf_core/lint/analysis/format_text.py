"""Formats texts and names for findings."""

from kbnf_core.frontend import Reading, name_span

_MAX_SHOWN = 60


def show(word: bytes) -> str:
    """Return a text in quotes, its hidden characters escaped, the middle of a long one left out."""
    text = word.decode("utf-8", "backslashreplace")
    if len(text) > _MAX_SHOWN:
        half = _MAX_SHOWN // 2
        text = f"{text[:half]}...{text[-half:]}"
    return repr(text)


def show_name(reading: Reading, nonterminal: str) -> str:
    """Return the name of a nonterminal, ``this`` where a conversion generated it."""
    place = name_span(reading.document, nonterminal)
    written = reading.document.source.slice(place)
    # A name may be written with marks around it, as in `?sum` or `<sum>`.
    return f"`{nonterminal}`" if nonterminal in written else "this"
