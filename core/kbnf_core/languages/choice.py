"""A choice as one of the grammar languages: a JSON list of texts, one of which is written.

Tests: tests/unit/languages
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from kbnf_core.frontend import Language
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.errors import ConfigError
from kbnf_core.text.source import Source, Span


class _Choice(Language):
    name = "choice"
    takes_fixes = False

    def read(self, source: Source, request: Request) -> Parsed:
        from kbnf_core.kbnf.build import text as text_at
        from kbnf_core.text.json_text import NoJsonError, parse_json

        del request
        whole = Span(0, len(source.text))
        message, span_ = "a choice is a JSON list of texts, at least one", whole
        try:
            texts = parse_json(source.text)
        except NoJsonError as error:
            texts, message, span_ = None, f"this list is not JSON: {error.reason}", error.span
        if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
            document = tree.Document(source, (), (), frozenset(("start",)))
            return Parsed(document, (Diagnostic("E001", message, source, span_),))
        branches = {text: text_at(text, span) for text, span in _texts_with_spans(source.text)}
        body: tree.Expression = tree.Alternation(tuple(branches.values()), whole)
        if len(branches) == 1:
            (body,) = branches.values()
        start = tree.Definition(tree.Name("start", Span(0, 0)), body, whole)
        return Parsed(tree.Document(source, (start,), ()), ())

    def text_of(self, source: Any) -> str:
        if isinstance(source, str | bytes) or not isinstance(source, Iterable):
            raise ConfigError(f"a choice is a list of texts, not {source!r}"[:200])
        texts = list(source)
        for text in texts:
            if not isinstance(text, str):
                raise ConfigError(f"a choice is a list of texts, not {text!r}"[:200])
        if not texts:
            raise ConfigError("a choice is between texts: give one at least")
        return json.dumps(texts, ensure_ascii=False)


def _texts_with_spans(text: str) -> Iterator[tuple[str, Span]]:
    """Yield each text of a list with its place in the JSON."""
    decoder = json.JSONDecoder()
    end = text.index("[") + 1
    while (begin := _next(text, end)) < len(text) and text[begin] != "]":
        value, end = decoder.raw_decode(text, begin)
        yield value, Span(begin, end)


def _next(text: str, begin: int) -> int:
    while text[begin : begin + 1] in {" ", "\t", "\n", "\r", ","}:
        begin += 1
    return begin


CHOICE = _Choice()
