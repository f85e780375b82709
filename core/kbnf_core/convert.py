"""Conversions between grammar languages: text in, ``Conversion`` out.

A text is read in its language and written in the other. Each function raises ``GrammarError`` for a
text with errors, and reports a loss for everything that it could not keep; nothing changes
silently.

Tests: tests/unit/conversion, tests/cli/test_convert.py
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kbnf_core import languages
from kbnf_core.frontend import Language, read_grammar
from kbnf_core.kbnf.parsed import NO_OPTIONS, Conversion, DifferingText, Loss, Request
from kbnf_core.languages import (
    ABNF,
    BNF,
    GBNF,
    JSON_SCHEMA,
    KBNF,
    LARK,
    RESPONSE_TEMPLATE,
    STRUCTURAL_TAG,
    as_language,
    is_structural_tag,
)
from kbnf_core.text.files import BELOW, Imports
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core.languages.json_schema import Options
    from kbnf_core.vocab.vocabulary import Vocabulary

__all__ = [
    "Conversion",
    "DifferingText",
    "Loss",
    "convert",
    "detect",
    "from_abnf",
    "from_bnf",
    "from_gbnf",
    "from_json_schema",
    "from_lark",
    "from_response_template",
    "from_structural_tag",
    "is_structural_tag",
    "to_gbnf",
    "to_lark",
]


def convert(
    text: str,
    language: Language | str,
    target: Language | str = KBNF,
    *,
    path: str | None = None,
    start: str | None = None,
    imports: Imports = BELOW,
    vocabulary: "Vocabulary | None" = None,
    limits: Limits = DEFAULT_LIMITS,
    lossy: bool = True,
    options: Mapping[str, Any] = NO_OPTIONS,
) -> Conversion:
    """Return a text of ``language`` in ``target``, with its losses; both may be names.

    ``path`` names the text in messages and is where its imports are looked for, as ``imports``
    permits; ``start`` is its start rule, by default the one that the text or the language says.
    What the text says of tokens, it says of those of ``vocabulary``. Without ``lossy`` a JSON
    Schema with a keyword that cannot be kept is an error. ``options`` are those of the language.
    Raises ``GrammarError`` with all findings for a text with errors, and ``ConfigError`` where
    nothing is converted to ``target``.
    """
    language, target = as_language(language), as_language(target)
    if language is target:
        return Conversion(text, True, ())
    request = Request(
        start,
        limits=limits,
        imports=imports,
        vocabulary=vocabulary,
        lossy=lossy,
        options=options,
    )
    reading = read_grammar(Source(text, path), language, request)
    result = target.write(reading, limits)
    unkept = language.attributes(reading.parsed.source, limits).unkept
    return result._replace(
        losses=(*_one_a_span(result.losses), *unkept),
        notes=(*result.notes, *reading.parsed.lint()),
    )


def _one_a_span(losses: Iterable[Loss]) -> Iterator[Loss]:
    """Yield the first loss of each kind at each position, with the number of the others."""
    groups: dict[tuple[str, Span], list[Loss]] = {}
    for loss in losses:
        groups.setdefault((loss.code, loss.span), []).append(loss)
    for first, *others in groups.values():
        more = f"and {len(others):,} more of this kind here"
        yield first._replace(notes=(*first.notes, more)) if others else first


def from_gbnf(
    source: str,
    *,
    path: str | None = None,
    start: str | None = None,
    vocabulary: "Vocabulary | None" = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Conversion:
    """Return the KBNF for a GBNF text, with llama.cpp's meaning.

    ``start`` is the rule that becomes ``start``, ``root`` if not given. ``!<text>`` is exact with a
    ``vocabulary`` that has the token.
    """
    return convert(source, GBNF, path=path, start=start, vocabulary=vocabulary, limits=limits)


def from_bnf(
    source: str,
    *,
    path: str | None = None,
    start: str | None = None,
    vocabulary: "Vocabulary | None" = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Conversion:
    """Return the KBNF for a text of bnf_sampler, whose generation ends with a token.

    Exact with a ``vocabulary``, or where the text asks for none, but for how tokens cut the text:
    ``<any!>`` is that of one token, by whatever tokens it is spelled.
    """
    return convert(source, BNF, path=path, start=start, vocabulary=vocabulary, limits=limits)


def from_abnf(
    source: str,
    *,
    path: str | None = None,
    start: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Conversion:
    """Return the KBNF for an ABNF text; its start is the first rule if nobody says."""
    return convert(source, ABNF, path=path, start=start, limits=limits)


def from_lark(
    source: str,
    *,
    path: str | None = None,
    start: str | None = None,
    lexing: str | None = None,
    postlex: Any = None,
    imports: Imports = BELOW,
    limits: Limits = DEFAULT_LIMITS,
) -> Conversion:
    """Return the KBNF for a Lark text, or for a list of grammars in LLGuidance's JSON form.

    ``lexing`` (``llguidance``, ``earley``, ``lalr``, ``scannerless``) says how text is cut into
    lexemes; without it files that use LLGuidance's constructs are read as LLGuidance does, others
    as Lark's default parser does, and a text that defines all its rules with ``::=``, ``root``
    among them, is GBNF, or what LLGuidance once read as such: Lark with ``::=``. ``auto`` does so
    too, and accepts what rules cannot keep of the lexer (W421). ``postlex`` is an ``Indenter`` of
    Lark, an object or its class. Raises ``ConfigError`` for an unknown ``lexing`` or another
    ``postlex``.
    """
    options: dict[str, Any] = {} if lexing is None else {"lexing": lexing}
    options = LARK.options_of(source, {**options, "postlex": postlex})
    return convert(
        source, LARK, path=path, start=start, imports=imports, limits=limits, options=options
    )


def from_response_template(
    source: str, *, path: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> Conversion:
    """Return the KBNF for the texts that a response template of transformers, a JSON text, reads.

    Each finding begins with the JSON Pointer of its place.
    """
    return convert(source, RESPONSE_TEMPLATE, path=path, limits=limits)


def from_structural_tag(
    source: str,
    *,
    path: str | None = None,
    start: str | None = None,
    vocabulary: "Vocabulary | None" = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Conversion:
    """Return the KBNF for a structural tag of XGrammar's, a JSON text, also in its older form.

    With a ``vocabulary`` tokens that are named by their texts become ids, which all that excludes
    tokens needs. Each finding begins with the JSON Pointer of its place.
    """
    del start  # there is but one; all converters take it
    return convert(source, STRUCTURAL_TAG, path=path, vocabulary=vocabulary, limits=limits)


def from_json_schema(
    source: str, options: "Options | None" = None, *, path: str | None = None
) -> Conversion:
    """Return a KBNF grammar for the JSON texts that a schema, itself a JSON text, allows.

    A schema that is malformed, cannot be satisfied, passes a limit or, unless ``options.lossy``,
    contains a keyword that no grammar can honour is refused; each finding names the JSON Pointer.
    """
    from kbnf_core.languages.json_schema import as_mapping

    wanted = as_mapping(options)
    lossy = bool(wanted.pop("lossy", False))
    return convert(source, JSON_SCHEMA, path=path, lossy=lossy, options=wanted)


def to_gbnf(
    source: str,
    *,
    path: str | None = None,
    start: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Conversion:
    """Return the GBNF for a KBNF text; ``start`` wins over its pragma and becomes ``root``.

    Raises ``GrammarError`` also where nothing of the text can be kept.
    """
    return convert(source, KBNF, GBNF, path=path, start=start, limits=limits)


def to_lark(
    source: str,
    *,
    path: str | None = None,
    start: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Conversion:
    """Return LLGuidance's Lark for a KBNF text; ``start`` wins over its pragma."""
    return convert(source, KBNF, LARK, path=path, start=start, limits=limits)


def detect(text: str, path: str) -> str:
    """Return the name of the language of a file: by its extension, or by its content."""
    return languages.detect(text, path).name
