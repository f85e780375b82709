"""From the dialect of bnf_sampler to KBNF.

The dialect ends with the token that completes the start, which is ``finish=token``. With the
vocabulary, ``<any!>`` is the texts of its tokens and ``<except!(..)>`` those that do not hold the
excluded text; KBNF then takes such a text by whatever tokens spell it.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from kbnf_core.automata.occurrences import Words
from kbnf_core.errors import GrammarError
from kbnf_core.frontend import Reading, read_grammar
from kbnf_core.languages.bnf.build import ANY
from kbnf_core.languages.bnf.language import BNF
from kbnf_core.languages.bnf.vocabulary import excluded_name, excluded_text, is_vocabulary
from kbnf_core.languages.conversion.build_tree import nothing, text_or_bytes
from kbnf_core.languages.conversion.names import kbnf_names
from kbnf_core.languages.conversion.to_kbnf import LOSSES, write_kbnf
from kbnf_core.languages.kbnf.language import KBNF
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source, Span
from kbnf_core.syntax.conversion import Conversion
from kbnf_core.syntax.language import Parsed
from kbnf_core.syntax.tree import Alternation, Definition, Expression

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary


def from_bnf(
    source: str,
    *,
    path: str | None = None,
    start: str | None = None,
    vocabulary: "Vocabulary | None" = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Conversion:
    """Return the KBNF for a text of bnf_sampler.

    ``path`` names the text in messages; ``start`` is the nonterminal that becomes ``start``.
    Exact with a ``vocabulary``, or where the text asks for none. Raises ``GrammarError`` with all
    findings for a text with errors.
    """
    reading = read_grammar(Source(source, path), start, limits=limits, language=BNF)
    definitions = reading.document.definitions
    losses = [d for d in reading.diagnostics if d.code in LOSSES]
    rough = write_kbnf(reading, definitions, losses, limits)
    if vocabulary is None or not losses:
        return rough
    filler = _Filler(rough.text, reading, vocabulary)
    return write_kbnf(reading, [filler.fill(each) for each in definitions], (), limits)


def read_over(reading: Reading, vocabulary: "Vocabulary", limits: Limits) -> Reading:
    """Return a reading of the same text in which ``vocabulary`` is known.

    ``reading`` is one without errors.
    """
    rough = write_kbnf(reading, reading.document.definitions, (), limits)
    filler = _Filler(rough.text, reading, vocabulary)
    definitions = tuple(map(filler.fill, reading.document.definitions))
    document = replace(reading.document, definitions=definitions)
    known = tuple(each for each in reading.diagnostics if each.code not in LOSSES)

    def reader(*_: object) -> Parsed:
        return Parsed(document, known, reading.start)

    language = replace(BNF, reader=reader)
    return read_grammar(document.source, limits=limits, language=language)


class _Filler:
    """Puts tokens in the place of ``any!`` and ``except!``."""

    def __init__(self, rough: str, reading: Reading, vocabulary: "Vocabulary") -> None:
        self._rough = rough
        self._names = kbnf_names(
            (d.name.value for d in reading.document.definitions), {reading.start: KBNF.start}
        )
        self._vocabulary = vocabulary
        self._tokens = sorted(data for data in set(vocabulary.tokens.values()) if data)

    def fill(self, definition: Definition) -> Definition:
        """Return ``definition``, with the tokens it takes if it stands for some."""
        name = definition.name.value
        if not is_vocabulary(name):
            return definition
        excluded = Words(() if name == ANY else self._excluded(name))
        texts = [data for data in self._tokens if not any(True for _ in excluded.within(data))]
        return Definition(definition.name, _any_of(texts, definition.span), definition.span)

    def _excluded(self, name: str) -> tuple[bytes, ...]:
        text = excluded_text(name)
        return self._first_tokens(excluded_name(name)) if text is None else (text,)

    def _first_tokens(self, name: str) -> tuple[bytes, ...]:
        """Return the tokens that may come first in a rule, as bnf_sampler lists them."""
        from kbnf_core.config import Config
        from kbnf_core.engine import Engine

        config = Config(start_nonterminal=self._names[name], finish="eos")
        try:
            engine = Engine(self._rough, self._vocabulary, config)
        except GrammarError:
            return ()
        engine.compute_allowed_token_ids()
        ids = engine.get_allowed_token_ids_from_last_computation()
        return tuple(data for each in ids if (data := self._vocabulary.token(each)))


def _any_of(texts: Iterable[bytes], span: Span) -> Expression:
    leaves = tuple(text_or_bytes(data, span) for data in texts)
    if not leaves:
        return nothing(span)
    return leaves[0] if len(leaves) == 1 else Alternation(leaves, span)
