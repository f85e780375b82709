"""From GBNF to KBNF.

The reader has given the text a tree of KBNF already; what is left are names, ``!<text>``, which
needs a vocabulary, and the layout. GBNF lets generation go on as long as the grammar allows, so
the result says ``finish=eos``.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.frontend import read_grammar
from kbnf_core.languages.conversion.rewrite import rewrite
from kbnf_core.languages.conversion.to_kbnf import LOSSES, write_kbnf
from kbnf_core.languages.gbnf.build import EXCLUDED_NAME, MAX_TOKEN_ID
from kbnf_core.languages.gbnf.language import GBNF
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source
from kbnf_core.syntax.conversion import Conversion
from kbnf_core.syntax.tree import Definition, Leaf, Reference, TokenSet

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary


def from_gbnf(
    source: str,
    *,
    path: str | None = None,
    start: str | None = None,
    vocabulary: "Vocabulary | None" = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Conversion:
    """Return the KBNF for a GBNF text, with llama.cpp's meaning.

    ``path`` names the text in messages; ``start`` is the rule that becomes ``start``, ``root`` if
    not given. ``!<text>`` is exact with a ``vocabulary`` that has the token. Raises
    ``GrammarError`` with all findings for a text with errors.
    """
    reading = read_grammar(Source(source, path), start, limits=limits, language=GBNF)
    numbers = {} if vocabulary is None else _excluded_ids(reading.document.definitions, vocabulary)
    definitions = [
        _with_numbers(each, numbers)
        for each in reading.document.definitions
        if not each.name.value.startswith(EXCLUDED_NAME)
    ]
    losses = [d for d in reading.diagnostics if d.code in LOSSES and _named(d) not in numbers]
    return write_kbnf(reading, definitions, losses, limits)


def _excluded_ids(
    definitions: tuple[Definition, ...], vocabulary: "Vocabulary"
) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the ids, as ranges, of the tokens that are excluded by their text."""
    found: dict[str, tuple[tuple[int, int], ...]] = {}
    for definition in definitions:
        name = definition.name.value
        if name.startswith(EXCLUDED_NAME):
            text = name.removeprefix(EXCLUDED_NAME)
            special = vocabulary.special_id(text)
            ids = vocabulary.token_ids(text.encode()) if special is None else (special,)
            if ids:
                found[name] = tuple((each, each) for each in ids)
    return found


def _with_numbers(
    definition: Definition, numbers: dict[str, tuple[tuple[int, int], ...]]
) -> Definition:
    """Return ``definition`` with a set of tokens for every ``!<text>``."""

    def change(leaf: Leaf) -> Leaf:
        if not (isinstance(leaf, Reference) and leaf.name.value.startswith(EXCLUDED_NAME)):
            return leaf
        ranges = numbers.get(leaf.name.value)
        if ranges is None:
            return TokenSet(((0, MAX_TOKEN_ID),), False, leaf.span)
        return TokenSet(ranges, True, leaf.span)

    return replace(definition, body=rewrite(definition.body, change))


def _named(loss: Diagnostic) -> str:
    """Return the name that stands where a loss is: that of an excluded token."""
    return loss.source.slice(loss.span)
