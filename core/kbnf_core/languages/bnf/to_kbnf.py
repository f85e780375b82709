"""From the dialect of bnf_sampler to KBNF.

The dialect ends with the token that completes the start, which is ``finish=token``. With the
vocabulary, ``<any!>`` is the texts of its tokens and ``<except!(..)>`` those that do not hold the
excluded text; KBNF then takes such a text by whatever tokens spell it. A rule that calls itself
only to make a list, as it must in the dialect, is written as a loop.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from kbnf_core.errors import GrammarError
from kbnf_core.frontend import Reading, read_grammar
from kbnf_core.ir.analysis import reachable
from kbnf_core.languages.bnf.build import ANY
from kbnf_core.languages.bnf.language import BNF
from kbnf_core.languages.bnf.vocabulary import (
    excluded_name,
    excluded_rule,
    excluded_text,
    is_vocabulary,
)
from kbnf_core.languages.conversion.build_tree import nothing, repeat, sequence, text_or_bytes
from kbnf_core.languages.conversion.names import kbnf_names
from kbnf_core.languages.conversion.to_kbnf import LOSSES, write_kbnf
from kbnf_core.languages.kbnf.language import KBNF
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source, Span
from kbnf_core.syntax.conversion import Conversion
from kbnf_core.syntax.language import Parsed
from kbnf_core.syntax.printer import print_expression
from kbnf_core.syntax.tree import (
    Alternation,
    Definition,
    Expression,
    Name,
    Reference,
    Sequence,
    uses_in,
)

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
    rough = write_kbnf(reading, _with_loops(definitions), losses, limits)
    if vocabulary is None or not losses:
        return rough
    filler = _Filler(rough.text, reading, vocabulary)
    filled = [filler.fill(each) for each in definitions]
    left = _reached(definitions, reading.start, asks=True) - _reached(filled, reading.start)
    kept = [each for each in filled if each.name.value not in left]
    return write_kbnf(reading, _with_loops(kept), (), limits)


def _reached(definitions: Iterable[Definition], start: str, *, asks: bool = False) -> set[str]:
    """Return the rules that the start leads to; with ``asks``, also by asking for their tokens."""
    uses: defaultdict[str, set[str]] = defaultdict(set)
    for each in definitions:
        name = each.name.value
        uses[name].update(used.value for used in uses_in(each.body))
        asked = excluded_rule(name) if asks else None
        uses[name].update(() if asked is None else (asked,))
    return reachable([start], uses)


def _with_loops(definitions: Iterable[Definition]) -> list[Definition]:
    definitions = list(definitions)
    counts = Counter(each.name.value for each in definitions)
    return [_loop(each) if counts[each.name.value] == 1 else each for each in definitions]


def _loop(definition: Definition) -> Definition:
    """Return ``n ::= x n | x`` as ``x+``, and ``n ::= x y n | x`` as ``(x y)* x``."""
    name, span = definition.name.value, definition.body.span
    match sorted(definition.branches, key=lambda branch: not _calls(branch, name)):
        case [Sequence((*items, Reference(Name(called)))), other] if (
            called == name
            and not any(_calls(each, name) for each in (*items, other))
            and print_expression(other) == print_expression(items[0])
        ):
            body = (
                repeat(other, 1, None, span)
                if len(items) == 1
                else sequence([repeat(sequence(items, span), 0, None, span), other], span)
            )
            return replace(definition, body=body)
    return definition


def _calls(node: Expression, name: str) -> bool:
    return any(used.value == name for used in uses_in(node))


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

    def fill(self, definition: Definition) -> Definition:
        """Return ``definition``, with the tokens it takes if it stands for some."""
        name = definition.name.value
        if not is_vocabulary(name):
            return definition
        excluded = () if name == ANY else self._excluded(name)
        texts = sorted(
            data
            for data in set(self._vocabulary.tokens.values())
            if data and not any(word in data for word in excluded)
        )
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
