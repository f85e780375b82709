"""Values of texts: which reader reads the texts of a grammar, and the value of a whole text.

Without marks a text is one JSON value (``follow``), or one of block YAML (``block_values``). Calls
of tools are read by a reading language (``messages``) or, where a tag has none, by a grammar whose
rules are marked (``calls``).

Tests: tests/unit/parse/test_calls.py, tests/unit/parse/test_values.py
"""

from kbnf_core.kbnf.parsed import Marked
from kbnf_core.languages.structural_tag.reading import loaded
from kbnf_core.parse.block_values import BlockReader
from kbnf_core.parse.calls import CallParser, CallReader
from kbnf_core.parse.follow import ValueReader
from kbnf_core.parse.messages import MessageReader
from kbnf_core.text.errors import NoValueError, ParseError
from kbnf_core.text.limits import Limits
from kbnf_core.text.locks import cached_property
from kbnf_core.vocab.vocabulary import Vocabulary

Reader = CallReader | MessageReader | ValueReader
"""Reads the value of one text; ``value`` is its certain part."""


class Readers:
    """Makes the readers of one grammar; ``marked`` is None if its texts are JSON values."""

    def __init__(self, marked: Marked | None, limits: Limits) -> None:
        self._marked = marked
        self._limits = limits
        given = None if marked is None else marked.language
        self._language = None if given is None else loaded(given)

    @property
    def checks(self) -> bool:
        """Whether a text has to fit the grammar before it is read: a reading language is wider."""
        return self._language is None

    def reader(self, vocabulary: Vocabulary | None, *, any_name: bool) -> Reader:
        """Return the reader of one text."""
        if self._language is not None:
            return MessageReader(self._language, vocabulary, any_name=any_name)
        if self._marked is not None and self._marked.syntax:
            return ValueReader(vocabulary, BlockReader())
        parser = self._call_parser
        return ValueReader(vocabulary) if parser is None else CallReader(parser, vocabulary)

    @cached_property
    def _call_parser(self) -> CallParser | None:
        marked = self._marked
        if marked is None or marked.grammar is None:
            return None
        return CallParser(marked.grammar, marked.marks, self._limits)


def value_of(reader: Reader, data: bytes, *, partial: bool) -> object:
    """Return the value of a text, or with ``partial`` of the beginning of one.

    Raises ``ParseError`` for a text that the reader refuses.
    """
    try:
        reader.feed(data)
        if not partial:
            reader.finish()
    except ParseError:
        if isinstance(reader, CallReader):
            raise
        raise NoValueError(data) from None
    return reader.value
