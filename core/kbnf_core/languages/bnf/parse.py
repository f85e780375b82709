r"""Parses the dialect of bnf_sampler: text in, a syntax tree of KBNF and findings out.

Never raises. The tree is built while Lark reduces the productions of ``grammar.lark``. Names keep
the text between their brackets. The dialect writes lists as rules that call themselves; they become
loops.

Texts have the escapes ``\t \n \r``, ``\xHH`` (one byte), ``\uHHHH``, and ``\`` before itself. The
reference stops with a panic at the errors here: a backslash at the end or before a character beyond
ASCII, missing digits, halves of surrogate pairs.

``<any!>`` and ``<except!(..)>`` read a token of the vocabulary; in the tree they are uses of
nonterminals with the same names. With the vocabulary they are the texts of its tokens, or those
without the excluded text, by whatever tokens these are spelled. bnf_sampler does not let them span
tokens, but lets them begin and end inside of one, as in ``<except!('ar')>'ard'`` with a token
``card``: so ``#token`` sets, which begin and end with a token, would be further from it. Without a
vocabulary they are any text, and any text without the excluded one: both may span several tokens,
which is a loss.

Tests: tests/unit/languages
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Sequence as Several
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from kbnf_core.automata.substrings import WordSet
from kbnf_core.automata.traversal import cyclic_components
from kbnf_core.config import Finish
from kbnf_core.ir.analysis import reachable
from kbnf_core.kbnf.build import (
    escaped,
    nothing,
    regex,
    repeated,
    sequence,
    text,
    text_of,
    text_or_bytes,
)
from kbnf_core.kbnf.parsed import Loss, Parsed
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.kbnf.statements import (
    Lexer,
    Metasyntax,
    Mistake,
    Statement,
    StatementParser,
    Word,
    parse_statements,
    shown,
    span_of,
)
from kbnf_core.kbnf.tree import (
    Alternation,
    ByteString,
    Concatenation,
    Definition,
    Document,
    Exception_,
    Expression,
    Name,
    Pattern,
    PatternKind,
    Reference,
    Terminal,
    postorder,
    uses_in,
)
from kbnf_core.lower.facts import analyse
from kbnf_core.lower.translate import translate
from kbnf_core.text.diagnostics import Diagnostic, Fix, TextEdit
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary


_SIMPLE = {"t": b"\t", "n": b"\n", "r": b"\r"}

_CHARACTER = re.compile(
    r"""(?P<plain>[^\\]+)
      | \\(?:x(?P<byte>[0-9A-Fa-f]{2}) | u(?P<four>(?![dD][89a-fA-F])[0-9A-Fa-f]{4})
      | (?P<simple>[^xu\x80-\U0010ffff]))
      | (?P<bad>\\.|.)""",
    re.VERBOSE | re.DOTALL,
)


class BnfPiece(NamedTuple):
    """A part of a text: its bytes, None for an invalid escape, and its place."""

    data: bytes | None
    span: Span


def characters(text: str, start: int) -> Iterator[BnfPiece]:
    """Split ``text``, without its quotes, that is at ``start``."""
    for match in _CHARACTER.finditer(text):
        span = Span(start + match.start(), start + match.end())
        kind = match.lastgroup or "bad"
        yield BnfPiece(_data(kind, match[kind]), span)


def decode(text: str) -> bytes:
    """Return the bytes that ``text`` spells; invalid escapes are left out."""
    return b"".join(character.data or b"" for character in characters(text, 0))


def _data(kind: str, written: str) -> bytes | None:
    match kind:
        case "plain":
            return written.encode()
        case "byte":
            return bytes([int(written, 16)])
        case "four":
            return chr(int(written, 16)).encode()
        case "simple":
            return _SIMPLE.get(written, written.encode())
        case _:
            return None


ANY = "any!"
EXCEPT = "except!"

_Branch: TypeAlias = list[Expression]


class BnfBuilder:
    """The methods that Lark calls; stateless, so one serves every parse."""

    def definition(self, values: list[Word | list[_Branch]]) -> Definition:
        """``<name>::=alternation``."""
        name = cast(Word, values[0])
        body = _join(cast(list[_Branch], values[2]))
        return Definition(_name(name), body, span_of(name).cover(body.span))

    def alternation(self, operands: list[Word | _Branch]) -> list[_Branch]:
        """``x | y``."""
        return [operand for operand in operands if not isinstance(operand, Word)]

    def sequence(self, items: list[Expression]) -> _Branch:
        """``x y``."""
        return items

    def reference(self, words: list[Word]) -> Reference:
        """``<name>``, ``<any!>`` or ``<except!(..)>``."""
        return Reference(_name(words[0]), span_of(words[0]))

    any = reference
    except_ = reference

    def string(self, words: list[Word]) -> Terminal | ByteString:
        """``'text'``: a text where it is one, else bytes."""
        return text_or_bytes(decode(words[0].value[1:-1]), span_of(words[0]))


def _name(word: Word) -> Name:
    return Name(word.value[1:-1], span_of(word))


def _join(branches: list[_Branch]) -> Expression:
    """Return the branches as one expression; a branch of empty texts only matches nothing."""
    result = [_sequence(branch) for branch in branches]
    if len(result) == 1:
        return result[0]
    return Alternation(tuple(result), result[0].span.cover(result[-1].span))


def _sequence(items: _Branch) -> Expression:
    span = items[0].span.cover(items[-1].span)
    kept = [item for item in items if not _is_empty(item)]
    if not kept:
        return nothing(span)
    return kept[0] if len(kept) == 1 else Concatenation(tuple(kept), span)


def _is_empty(item: Expression) -> bool:
    return isinstance(item, Terminal) and not item.text.value


def with_loops(document: Document) -> Document:
    """Return a tree with ``n ::= x n | x`` as ``x+``, and ``n ::= x y n | x`` as a loop."""
    counts = Counter(definition.name.value for definition in document.definitions)
    return replace(
        document,
        definitions=tuple(
            # Of several definitions each is an alternative of the others, too.
            _loop(definition) if counts[definition.name.value] == 1 else definition
            for definition in document.definitions
        ),
    )


def _loop(definition: Definition) -> Definition:
    name, span = definition.name.value, definition.body.span
    match sorted(definition.branches, key=lambda branch: not _calls(branch, name)):
        case [Concatenation((*items, Reference(called))), other] if (
            called.value == name
            and not any(_calls(item, name) for item in (*items, other))
            and print_expression(other) == print_expression(items[0])
        ):
            body = (
                repeated(other, 1, None, span)
                if len(items) == 1
                else sequence(
                    repeated(sequence(*items, span=span), 0, None, span), other, span=span
                )
            )
            return replace(definition, body=body)
    return definition


def _calls(node: Expression, name: str) -> bool:
    return any(used.value == name for used in uses_in(node))


_OPEN = {"OPEN_STRING": "this text is never closed", "OPEN_NAME": "this name is never closed"}


@cache
def bnf_parser() -> StatementParser:
    """Return the parser of the dialect."""
    return StatementParser(Path(__file__).parent, BnfBuilder())


def parse_bnf(
    source: Source, limits: Limits = DEFAULT_LIMITS, vocabulary: "Vocabulary | None" = None
) -> Parsed:
    """Parse ``source``; productions with mistakes are left out, as in ``parse_kbnf``.

    ``vocabulary`` has the tokens that ``<any!>`` and ``<except!(..)>`` take.
    """
    read = parse_statements(_split(source.text), _BnfRules(source, limits))
    definitions = [tree for tree in read.trees if not is_vocabulary(tree.name.value)]
    findings = read.findings
    if not (definitions or findings):
        findings.append(Diagnostic("E010", "this file defines no rule", source, Span(0, 0)))
    made, losses, wrong = define_vocabulary(source, definitions)
    findings.extend(wrong)
    generated: frozenset[Span] = frozenset()
    if vocabulary is not None and not findings:
        rough = Document(source, (*definitions, *made), ())
        made = fill_vocabulary(rough, made, vocabulary, limits)
        losses, generated = [], frozenset(definition.span for definition in made)
        definitions = without_asked(definitions)
    document = Document(
        source,
        (*definitions, *made),
        (),
        frozenset(read.broken),
        generated,
        frozenset(definition.name.value for definition in made),
    )
    ordered = tuple(sorted(findings, key=Diagnostic.sort_key))
    return Parsed(document, ordered, losses=tuple(losses))


class _BnfRules(Metasyntax[Definition]):
    """The productions of a text."""

    def parser(self) -> StatementParser:
        return bnf_parser()

    def explain(self, statement: Statement, mistake: Mistake) -> Iterator[Diagnostic]:
        yield _unexpected(self.source, mistake)
        yield from _check_texts(self.source, statement.words)

    def validate(self, statement: Statement, tree: Definition) -> Iterable[Diagnostic]:
        del tree
        return _check_texts(self.source, statement.words)

    def names(self, statement: Statement) -> Iterator[str]:
        return (name[1:-1] for name in super().names(statement))


def _split(text: str) -> list[Statement]:
    """Return the productions; the words before the first one are one of their own."""
    words = list(Lexer(bnf_parser(), text).words())
    productions: list[Statement] = []
    ended = True
    for index, word in enumerate(words):
        following = words[index + 1].type if index + 1 < len(words) else ""
        # A production that lacks its end is a mistake of its own, and does not swallow the next
        # one.
        begins = word.type == "NAME" and following == "DEFINE"
        if begins or ended:
            productions.append(Statement())
        productions[-1].words.append(word)
        ended = word.type == "END"
    return productions


def _unexpected(source: Source, mistake: Mistake) -> Diagnostic:
    word = mistake.word
    if word is None:
        helps = ("an alternative contains at least one name or text",)
        message = "this production is not complete"
        return Diagnostic("E011", message, source, mistake.span, helps=helps)
    if word.type in _OPEN:
        start = span_of(word).start
        return Diagnostic("E004", _OPEN[word.type], source, Span(start, start + 1))
    bare = _BARE.match(source.text, word.start_pos)
    if word.type == "JUNK" and bare is not None and "STRING" in mistake.expected:
        span, written = Span(*bare.span()), f"'{bare[0]}'"
        fix = Fix(f"write `{written}`", (TextEdit(span, written),))
        message = f"the text {shown(bare[0])} has no quotes"
        helps = (f"{fix.message}; a name is written `<{bare[0]}>`",)
        return Diagnostic("E001", message, source, span, helps=helps, fixes=(fix,))
    message = f"{shown(word.value)} is not allowed here"
    helps = ("a production is written `<name>::='text'<name>|...`; there are no comments",)
    return Diagnostic("E001", message, source, span_of(word), helps=helps)


def _check_texts(source: Source, words: list[Word]) -> list[Diagnostic]:
    result = []
    for word in words:
        if word.type == "STRING" and "\\" in word.value:
            for character in characters(word.value[1:-1], span_of(word).start + 1):
                if character.data is None:
                    message = f"{shown(source.slice(character.span))} is not an escape"
                    helps = (r"there are \t \n \r \xHH \uHHHH, and \ before any ASCII character",)
                    result.append(Diagnostic("E007", message, source, character.span, helps=helps))
    return result


_BARE = re.compile(r"[^\W_][\w.-]*")
"""A word of a standard's BNF, which has no quotes around texts."""

_ANY_TEXT = "(?s:.)+"

_Branches: TypeAlias = Mapping[str, Several[Expression]]
"""The alternatives of each name."""


def is_vocabulary(name: str) -> bool:
    """Return whether ``name`` stands for a token; a definition of it is not looked at."""
    return name == ANY or name.startswith(EXCEPT)


def excluded_text(name: str) -> bytes | None:
    """Return the text that ``except!('text')`` excludes, None for ``except!([name])``."""
    inner = name.removeprefix(EXCEPT)[1:-1]
    return None if inner.startswith("[") else decode(inner[1:-1])


def excluded_name(name: str) -> str:
    """Return the name in ``except!([name])``."""
    return name.removeprefix(EXCEPT)[2:-2]


def excluded_rule(name: str) -> str | None:
    """Return the rule that a name ``except!([rule])`` asks about; None for other names."""
    asks = name.startswith(f"{EXCEPT}([") and name.endswith("])")
    return excluded_name(name) if asks else None


def define_vocabulary(
    source: Source, definitions: list[Definition]
) -> tuple[list[Definition], list[Loss], list[Diagnostic]]:
    """Return a definition for every such name that is used, and the findings about each.

    That is a loss (W405), the E101 of an excluded name that is not defined, or the E103 of one
    that is made of what excludes it.
    """
    uses: dict[str, Name] = {}
    called: dict[str, set[str]] = {}
    branches: dict[str, list[Expression]] = {}
    for definition in definitions:
        branches.setdefault(definition.name.value, []).extend(definition.branches)
        calls = called.setdefault(definition.name.value, set())
        for node in postorder(definition.body):
            if isinstance(node, Reference):
                calls.add(node.name.value)
                if is_vocabulary(node.name.value):
                    uses.setdefault(node.name.value, node.name)
    made = [Definition(name, _body(name, branches), name.span) for name in uses.values()]
    circular = _excluding_themselves(called, uses)
    wrong = [_mistake(source, name, called, circular) for name in uses.values()]
    return made, [_loss(name) for name in uses.values()], [loss for loss in wrong if loss]


def fill_vocabulary(
    rough: Document, made: list[Definition], vocabulary: "Vocabulary", limits: Limits
) -> list[Definition]:
    """Return ``made`` with the tokens of ``vocabulary`` for bodies.

    ``rough`` is the whole text without them, of which the first tokens of excluded rules are asked.
    """
    # Several ids may spell one text, and their order means nothing.
    tokens = sorted(data for data in set(vocabulary.tokens.values()) if data)
    filled = []
    for definition in made:
        texts = tokens
        if words := _excluded(rough, definition.name.value, vocabulary, limits):
            excluded = WordSet(words)
            texts = [data for data in tokens if next(excluded.within(data), None) is None]
        filled.append(Definition(definition.name, _any_of(texts, definition.span), definition.span))
    return filled


def without_asked(definitions: list[Definition]) -> list[Definition]:
    """Return the rules without those of which only the first tokens are asked.

    What nothing uses at all stays, as somebody wrote it.
    """
    uses: dict[str, set[str]] = {}
    asked: set[str] = set()
    for definition in definitions:
        names = {name.value for name in uses_in(definition.body)}
        asked |= {rule for name in names if (rule := excluded_rule(name)) is not None}
        uses.setdefault(definition.name.value, set()).update(names)
    within = {name: names & uses.keys() for name, names in uses.items()}
    below = reachable(asked & uses.keys(), within)
    others = reachable(uses.keys() - below, within)
    return [kept for kept in definitions if kept.name.value not in below - others]


def _excluded(
    rough: Document, name: str, vocabulary: "Vocabulary", limits: Limits
) -> tuple[bytes, ...]:
    """Return the texts that no token for ``name`` has in it."""
    if name == ANY:
        return ()
    text = excluded_text(name)
    rule = excluded_name(name)
    return _first_tokens(rough, rule, vocabulary, limits) if text is None else (text,)


def _first_tokens(
    rough: Document, name: str, vocabulary: "Vocabulary", limits: Limits
) -> tuple[bytes, ...]:
    """Return the allowed tokens first in a rule, as bnf_sampler lists them."""
    from kbnf_core.lower.build import build_tables
    from kbnf_core.mask.bits import ids_of
    from kbnf_core.mask.masks import Masks
    from kbnf_core.mask.token_automaton import TokenAutomaton
    from kbnf_core.recognise.states import StateTable

    grammar = translate(rough, name, limits).grammar
    if grammar is None or not analyse(grammar).facts[name].filled:
        return ()
    masks = Masks(StateTable(build_tables(grammar, limits), limits), vocabulary, limits)
    automaton = TokenAutomaton(masks, Finish.EOS, limits)
    ids = ids_of(automaton.mask(automaton.beginning), vocabulary.size)
    return tuple(data for token_id in ids.tolist() if (data := vocabulary.token(token_id)))


def _any_of(texts: Iterable[bytes], span: Span) -> Expression:
    leaves = tuple(text_or_bytes(data, span) for data in texts)
    if not leaves:
        return nothing(span)
    return leaves[0] if len(leaves) == 1 else Alternation(leaves, span)


def _excluding_themselves(called: Mapping[str, set[str]], uses: Iterable[str]) -> set[str]:
    """Return the names, among others, that exclude a rule which is made of them."""
    graph: dict[str, set[str]] = {name: {excluded_rule(name) or name} - {name} for name in uses}
    graph = {**called, **graph}
    within = {name: names & graph.keys() for name, names in graph.items()}
    return {name for names in cyclic_components(within) for name in names}


def _body(name: Name, branches: _Branches) -> Expression:
    if name.value != ANY:
        data = excluded_text(name.value)
        if data is not None:
            excluded = text(data.decode("utf-8", "replace"), name.span)
            return Exception_(excluded, 0, name.span)
        inner = excluded_name(name.value)
        if _is_plain(branches.get(inner, ())):
            return Exception_(Name(inner, name.span), 0, name.span)
        words = _words(inner, branches)
        if words:
            excluding = text_of("|".join(map(escaped, words)), name.span)
            return Pattern(PatternKind.COMPLEMENT, excluding, name.span)
    return regex(_ANY_TEXT, name.span)


def _is_plain(branches: Iterable[Expression]) -> bool:
    """Return whether the alternatives of a name are made of texts only."""
    operands = [p for b in branches for p in (b.items if isinstance(b, Concatenation) else (b,))]
    return bool(operands) and all(isinstance(operand, Terminal) for operand in operands)


def _words(name: str, branches: _Branches) -> list[str]:
    """Return the texts of a name whose alternatives are texts and such names; else none."""
    words: list[str] = []
    waiting, seen = [name], {name}
    while waiting:
        excluded = waiting.pop()
        for branch in branches.get(excluded, ()):
            operands = branch.items if isinstance(branch, Concatenation) else (branch,)
            texts = [operand.text.value for operand in operands if isinstance(operand, Terminal)]
            if len(texts) == len(operands):
                words.append("".join(texts))
            elif isinstance(branch, Reference) and not is_vocabulary(branch.name.value):
                waiting += {branch.name.value} - seen
                seen.add(branch.name.value)
            else:
                return []
    return words


def _mistake(
    source: Source, name: Name, called: Mapping[str, set[str]], circular: set[str]
) -> Diagnostic | None:
    inner = excluded_name(name.value)
    if name.value != ANY and excluded_text(name.value) is None and inner not in called:
        message = f"the nonterminal `{inner}` is not defined"
        return Diagnostic("E101", message, source, name.span)
    if name.value in circular:
        message = f"`<{inner}>` is made of `<{name.value}>`, which excludes it"
        helps = ("exclude a nonterminal that does not lead back here, or a text",)
        return Diagnostic("E103", message, source, name.span, helps=helps)
    return None


def _loss(name: Name) -> Loss:
    return Loss(
        "W405",
        f"`<{name.value}>` takes one token of a vocabulary that is not known",
        name.span,
        notes=("without it any text is taken that fits, of several tokens too",),
        helps=("commands that take `--vocab FILE` read it over that vocabulary",),
    )
