"""Checks of one GBNF rule that the grammar file does not say, by its words and by its tree.

What llama.cpp refuses and others take is a warning (W411); so is what has another meaning than
it seems to have (W413, W414).
"""

from collections.abc import Iterator, Mapping

from lark import Token

from kbnf_core.diagnostics import Diagnostic, Label
from kbnf_core.languages.gbnf.build import COUNT, EXCLUDED_NAME, MAX_TOKEN_ID, read_count
from kbnf_core.languages.gbnf.explain import llama_says, nothing_to_repeat
from kbnf_core.languages.gbnf.patterns import Piece, is_scalar, pieces, read_class
from kbnf_core.limits import Limits
from kbnf_core.source import Source, Span
from kbnf_core.syntax.mistake import shown, span_of
from kbnf_core.syntax.statements import Statement
from kbnf_core.syntax.suggest import Suggestions
from kbnf_core.syntax.tree import (
    Bracket,
    Definition,
    Expression,
    Name,
    Reference,
    Repetition,
    Terminal,
    TokenSet,
    postorder,
)

LLAMA_LIMIT = 2000
"""Counts above it llama.cpp refuses, or treats as having no bound."""

_DIGITS = {"x": 2, "u": 4, "U": 8}


def check_words(source: Source, statement: Statement) -> Iterator[Diagnostic]:
    """Yield what is wrong with the words of a rule, and with its line breaks."""
    for word in statement.words:
        if word.type in ("STRING", "CLASS"):
            yield from _check_characters(source, word)
        if word.type == "CLASS":
            yield from _check_class(source, word)
        elif word.type == "COUNT":
            yield from _check_count(source, word)
    if "_" in statement.words[0].value:
        yield _underscore(source, statement.words[0])
    if statement.odd:
        yield _broken_line(source, statement.odd[0])


def check_definition(
    source: Source, definition: Definition, limits: Limits
) -> Iterator[Diagnostic]:
    """Yield what is wrong with the operators of a rule, and with its tokens."""
    sizes: dict[int, int] = {}
    for node in postorder(definition.body):
        sizes[id(node)] = _size(node, sizes)
        if isinstance(node, Repetition):
            yield from _check_repetition(source, node, sizes[id(node.body)], limits)
        elif isinstance(node, TokenSet) and MAX_TOKEN_ID in node.ranges[0]:
            yield Diagnostic("E016", f"token ids end at {MAX_TOKEN_ID - 1}", source, node.span)


def _check_characters(source: Source, word: Token) -> Iterator[Diagnostic]:
    if word.value.isascii() and "\\" not in word.value and "\0" not in word.value:
        return
    for piece in pieces(word.value, span_of(word).start):
        if piece.point is None:
            yield _bad_escape(source, piece)
        elif not is_scalar(piece.point) or (piece.point == 0 and word.type == "STRING"):
            yield _no_character(source, piece.point, piece.span)


def _bad_escape(source: Source, piece: Piece) -> Diagnostic:
    written = source.slice(piece.span)
    digits = _DIGITS.get(written[-1])
    if digits is not None:
        message = f"`{written}` is followed by {digits} hexadecimal digits"
        says = f"expecting {digits} hex chars at"
    else:
        message, says = f"{shown(written)} is not an escape", "unknown escape at"
    helps = (r"GBNF knows \t \n \r \\ \" \[ \] \xHH \uHHHH \UHHHHHHHH",)
    return Diagnostic("E007", message, source, piece.span, notes=(llama_says(says),), helps=helps)


def _no_character(source: Source, point: int, span: Span) -> Diagnostic:
    if point == 0:
        notes = ("llama.cpp reads it, but can never generate it",)
        return Diagnostic("W413", "U+0000 can never match in llama.cpp", source, span, notes=notes)
    message = f"U+{point:04X} is no character, so nothing can match it"
    return Diagnostic("W413", message, source, span)


def _check_class(source: Source, word: Token) -> Iterator[Diagnostic]:
    found = read_class(word.value, span_of(word).start)
    if not found.members and len(word.value) <= len("[^]"):
        notes = (
            "in llama.cpp it is the empty text; other readers take it for nothing or anything",
        )
        yield Diagnostic("W413", "this class is empty", source, span_of(word), notes=notes)
    for low, high, span in found.members:
        if high < low:
            notes = ("llama.cpp takes it for an empty range; other readers refuse it",)
            yield Diagnostic("W413", "this range is reversed", source, span, notes=notes)


def _check_count(source: Source, word: Token) -> Iterator[Diagnostic]:
    match = COUNT.fullmatch(word.value)
    if read_count(word.value) is None or match is None:
        says = "expecting ',' at" if "," not in word.value else "expecting an int at"
        message = f"{shown(word.value)} is not a count"
        helps = ("a count is written `{3}`, `{2,}` or `{2,5}`",)
        notes = (llama_says(says),)
        yield Diagnostic("E001", message, source, span_of(word), notes=notes, helps=helps)
    elif not match["low"]:
        message = "llama.cpp refuses a count without its lower bound"
        yield _refused(source, span_of(word), message, "expecting an int at", "write `0` in front")


def _underscore(source: Source, word: Token) -> Diagnostic:
    message = f"llama.cpp refuses the `_` in `{word.value}`"
    help_ = "write `-` in place of `_`"
    return _refused(source, span_of(word), message, "expecting newline or end at", help_)


def _broken_line(source: Source, word: Token) -> Diagnostic:
    message = "llama.cpp ends the rule at the line break before this"
    help_ = "end the line before with `|`, or put the rule in parentheses"
    return _refused(source, span_of(word), message, "expecting name at", help_)


def _refused(source: Source, span: Span, message: str, says: str, help_: str) -> Diagnostic:
    notes = (llama_says(says),)
    return Diagnostic("W411", message, source, span, notes=notes, helps=(help_,))


def _check_repetition(
    source: Source, node: Repetition, size: int, limits: Limits
) -> Iterator[Diagnostic]:
    if isinstance(node.body, Terminal) and not node.body.text.value:
        yield nothing_to_repeat(source, node.operator, shown(source.slice(node.operator)))
        return
    high = node.low if node.high is None else node.high
    if high < node.low:
        message = "this count has its larger number first"
        notes = ("llama.cpp does not notice, and never ends",)
        yield Diagnostic("E013", message, source, node.operator, notes=notes)
    elif high > limits.repetition:
        message = f"this count is above {limits.repetition}"
        yield Diagnostic("E013", message, source, node.operator)
    elif node.low > LLAMA_LIMIT or size * high > LLAMA_LIMIT >= high:
        notes = (llama_says("number of repetitions exceeds sane defaults"),)
        message = f"llama.cpp refuses more than {LLAMA_LIMIT} repetitions"
        yield Diagnostic("W414", message, source, node.operator, notes=notes)
    elif high > LLAMA_LIMIT:
        message = f"llama.cpp reads an upper bound above {LLAMA_LIMIT} as none at all"
        yield Diagnostic("W414", message, source, node.operator)


def _size(node: Expression, sizes: dict[int, int]) -> int:
    """Return how many generated rules a part counts for where llama.cpp repeats it.

    A count makes a rule for every repetition that may be left out, and a group counts for the
    rules made inside it; everything else counts for one.
    """
    match node:
        case Repetition():
            copies = node.low if node.high is None else node.high
            return sizes[id(node.body)] * max(copies, 1)
        case Bracket():
            return max(1, sum(_optional(part) for part in postorder(node.body)))
        case _:
            return 1


def _optional(node: Expression) -> int:
    if not isinstance(node, Repetition):
        return 0
    return 1 if node.high is None else node.high - node.low


def check_names(
    source: Source,
    definitions: list[Definition],
    kept: Mapping[str, Definition],
    broken: set[str],
) -> tuple[set[str], list[Diagnostic]]:
    """Return the names that are used and not defined, and the findings about all names."""
    defined = frozenset(kept) | broken
    missing = _undefined(definitions, defined)
    suggestions = Suggestions(defined)
    return set(missing), [
        *_check_redefinitions(source, definitions, kept),
        *(_undefined_finding(source, name, suggestions) for name in missing.values()),
    ]


def _check_redefinitions(
    source: Source, definitions: list[Definition], kept: Mapping[str, Definition]
) -> Iterator[Diagnostic]:
    """Yield a W412 for every definition that a later one replaces."""
    for definition in definitions:
        last = kept[definition.name.value]
        if definition is not last:
            name = definition.name
            message = f"this definition of `{name.value}` is replaced by a later one"
            label = Label(last.name.span, "this one counts")
            notes = ("llama.cpp says nothing; other readers refuse the file, KBNF joins them",)
            yield Diagnostic("W412", message, source, name.span, labels=(label,), notes=notes)


def _undefined(definitions: list[Definition], defined: frozenset[str]) -> dict[str, Name]:
    """Return the first use of every name that has no definition."""
    found: dict[str, Name] = {}
    for definition in definitions:
        for node in postorder(definition.body):
            if isinstance(node, Reference) and not _is_known(node.name.value, defined):
                found.setdefault(node.name.value, node.name)
    return found


def _is_known(name: str, defined: frozenset[str]) -> bool:
    return name in defined or name.startswith(EXCLUDED_NAME)


def _undefined_finding(source: Source, name: Name, suggestions: Suggestions) -> Diagnostic:
    """Return the E101 for a name that is used and not defined."""
    close = suggestions.closest(name.value)
    return Diagnostic(
        "E101",
        f"the rule `{name.value}` is not defined",
        source,
        name.span,
        notes=(llama_says(f"Undefined rule identifier '{name.value}'"),),
        helps=(f"did you mean `{close}`?" if close else f"define it: `{name.value} ::= ...`",),
    )
