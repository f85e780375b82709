"""Patterns as the regex engine reads them: behind the escapes of the quoted text."""

from kbnf_core.source import Source
from kbnf_core.syntax.tree import Text

_SHOWN = 120


def as_read(text: Text, source: Source) -> tuple[str, ...]:
    """Return a note with the pattern behind its escapes; none where they change nothing.

    None either where the text is not quoted in ``source``, having come from another language.
    """
    written = source.slice(text.span)
    quote = written[:1]
    if quote not in ("'", '"') or not written.endswith(quote):
        return ()
    if text.value in (written[1:-1], written[1:-1].replace(quote * 2, quote)):
        return ()
    shown = "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in text.value[:_SHOWN])
    more = "..." if len(text.value) > _SHOWN else ""
    return (f"the regular expression reads `{shown}{more}`",)
