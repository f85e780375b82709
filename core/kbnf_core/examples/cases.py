"""The examples of a grammar, in comments and in ``NAME.examples.toml``: reading, runs, coverage.

In comments, ``(* kbnf: accept "text" *)`` and ``(* kbnf: reject "text" why *)``; several texts may
be in one comment, either quote may be used, and escapes are those of KBNF. In the file::

    accept = ['{"a": 1}', { hex = "5b5d" }]
    reject = ['{', { text = '01', why = "a leading zero" }]
    accept = [{ text = '{"a": 1}', captures = { number = "1", string = ['"a"'] } }]

    [[next]]
    after = '{'
    allowed = ['"', 125]
    rejected = [',']

``accept`` and ``reject`` contain texts, as strings or as tables with ``text`` or ``hex`` and
``why``; in ``accept`` also with ``captures``, the text, or all the texts in order, that a rule has
matched. ``next`` says which tokens can follow a text, by their own text or by their id.

The coverage is the rules and alternatives in the trees of the accepted texts, the trees that
``kbnf parse`` shows.

Tests: tests/unit/examples/test_reading.py, tests/unit/examples/test_run.py
"""

import copy
import enum
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from kbnf_core.automata.algebra import fold, rebuild
from kbnf_core.engine import Engine
from kbnf_core.ir import Call, Choice, GrammarRules, Node, calls
from kbnf_core.ir.analysis import reachable
from kbnf_core.kbnf.escapes import characters_of
from kbnf_core.kbnf.tree import Document
from kbnf_core.parse.parser import Parser
from kbnf_core.text.errors import EngineError, KbnfError, ParseError, RejectedError, WorkLimitError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Span

Symbol: TypeAlias = int | bytes
"""A token, by its id or by its bytes."""


class ExampleError(KbnfError, ValueError):
    """An example, or a file of them, that is malformed; ``name`` says where it is."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason
        super().__init__(f"{name}: {reason}")


@dataclass(frozen=True, slots=True)
class Example:
    """A text that is in the language (``accepted``) or is not, and why.

    ``name`` says where it is: ``accept[0]`` in a file, ``line 3`` in a grammar.
    ``captures`` are rules, each with all the texts that it matched.
    """

    name: str
    data: bytes
    accepted: bool
    why: str = ""
    captures: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Expectation:
    """After ``after``, the token ``what`` is allowed, or it is not."""

    name: str
    after: bytes
    symbol: Symbol
    allowed: bool


class Status(enum.Enum):
    """The outcome of an example."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class ExampleOutcome:
    """An example and its outcome; ``message`` describes the mistake, if any.

    ``offset``: how many bytes of a text that should be accepted were right; None otherwise.
    """

    example: Example | Expectation
    status: Status
    message: str = ""
    offset: int | None = None


_HEAD = re.compile(r"\s*kbnf:\s*(accept|reject)\b")
_TEXT = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)


def read_comments(document: Document) -> Iterator[Example]:
    """Yield the examples in a grammar, in order; raise ``ExampleError`` for a malformed one."""
    for comment in document.comments:
        head = _HEAD.match(comment.text)
        if head is not None:
            line = document.source.position(comment.span.start).line
            position = f"{document.source.name}:{line}"
            yield from _read(comment.text, head, line, position)


def _read(text: str, head: re.Match[str], line: int, position: str) -> Iterator[Example]:
    texts: list[str] = []
    end = head.end()
    while (match := _TEXT.match(text, end)) is not None:
        texts.append(_decode(match[1], position))
        end = match.end()
    if not texts:
        raise ExampleError(position, f"`{head[1]}` needs a quoted text")
    for text_of_example in texts:
        why = " ".join(text[end:].split())
        yield Example(f"line {line}", text_of_example.encode(), head[1] == "accept", why)


def _decode(raw: str, position: str) -> str:
    values = []
    for character in characters_of(raw, 0):
        if character.value is None:
            raise ExampleError(
                position, f"no such escape: {raw[character.span.start : character.span.end]}"
            )
        values.append(character.value)
    return "".join(values)


def can_come(engine: Engine, symbol: Symbol) -> bool:
    """Return whether a token is in the mask, or bytes are viable; the engine does not move.

    A token that the vocabulary does not have, or that is empty, cannot.
    """
    if isinstance(symbol, int):
        engine.compute_allowed_token_ids()
        return symbol in engine.get_allowed_token_ids_from_last_computation()
    try:
        copy.copy(engine).try_accept_new_bytes(symbol)
    except EngineError:
        return False
    return bool(symbol)


def show(symbol: Symbol) -> str:
    """Return the name of a token or bytes in a message."""
    return f"token {symbol}" if isinstance(symbol, int) else repr(symbol)


SUFFIX = ".examples.toml"


def examples_path(grammar: Path) -> Path:
    """Return where the examples of a grammar file are."""
    return grammar.with_name(grammar.stem + SUFFIX)


def read_toml(text: str, name: str) -> tuple[Example | Expectation, ...]:
    """Return the examples in a text, in the order of the docstring above.

    Raises ``ExampleError`` for text that is not TOML, and for any other key or type; ``name``
    stands for the file.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ExampleError(name, str(error)) from None
    return tuple(_CaseReader(name).read(document))


class _CaseReader:
    """Takes the document apart; ``name`` stands for the file in errors."""

    def __init__(self, name: str) -> None:
        self._name = name

    def read(self, document: dict[str, Any]) -> Iterator[Example | Expectation]:
        self._check_keys(document, {"accept", "reject", "next"}, "the file")
        for key, accepted in (("accept", True), ("reject", False)):
            for index, item in enumerate(self._list(document, key)):
                yield self._example(item, f"{key}[{index}]", accepted)
        for index, item in enumerate(self._list(document, "next")):
            yield from self._expectations(item, f"next[{index}]")

    def _example(self, item: Any, name: str, accepted: bool) -> Example:
        if isinstance(item, str):
            return Example(name, item.encode(), accepted)
        keys = {"text", "hex", "why"}
        self._check_keys(item, keys | {"captures"} if accepted else keys, name)
        why = item.get("why", "")
        if not isinstance(why, str):
            raise self._error(f"`why` of {name} is not a text")
        captures = self._captures(item.get("captures", {}), name)
        return Example(name, self._data(item, name), accepted, why, captures)

    def _captures(self, table: Any, name: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
        if not isinstance(table, dict):
            raise self._error(f"`captures` of {name} is not a table of rules and texts")
        result = []
        for rule, texts in table.items():
            listed = [texts] if isinstance(texts, str) else texts
            if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
                raise self._error(
                    f"`captures.{rule}` of {name} is neither text nor a list of texts"
                )
            result.append((rule, tuple(listed)))
        return tuple(result)

    def _data(self, item: dict[str, Any], name: str) -> bytes:
        match item.get("text"), item.get("hex"):
            case str(text), None:
                return text.encode()
            case None, str(digits):
                return self._from_hex(digits, name)
            case _:
                raise self._error(f"{name} needs a `text` or its bytes as `hex`")

    def _from_hex(self, digits: str, name: str) -> bytes:
        try:
            return bytes.fromhex(digits)
        except ValueError:
            raise self._error(f"`hex` of {name} is not made of hexadecimal digits") from None

    def _expectations(self, item: Any, prefix: str) -> Iterator[Expectation]:
        self._check_keys(item, {"after", "allowed", "rejected"}, prefix)
        after = item.get("after", "")
        if not isinstance(after, str):
            raise self._error(f"`after` of {prefix} is not a text")
        for key, allowed in (("allowed", True), ("rejected", False)):
            for index, symbol in enumerate(self._list(item, key)):
                name = f"{prefix}.{key}[{index}]"
                yield Expectation(name, after.encode(), self._symbol(symbol, name), allowed)

    def _symbol(self, value: Any, name: str) -> Symbol:
        if isinstance(value, str) and value:
            return value.encode()
        if type(value) is int and value >= 0:
            return value
        raise self._error(f"{name} is neither the text nor the id of a token")

    def _list(self, table: dict[str, Any], key: str) -> list[Any]:
        value = table.get(key, [])
        if not isinstance(value, list):
            raise self._error(f"`{key}` is not a list")
        return value

    def _check_keys(self, table: Any, keys: set[str], name: str) -> None:
        if not isinstance(table, dict):
            raise self._error(f"{name} is not a text or a table")
        unknown = sorted(table.keys() - keys)
        if unknown:
            raise self._error(f"unknown key `{unknown[0]}` in {name}")

    def _error(self, reason: str) -> ExampleError:
        return ExampleError(self._name, reason)


def with_expectation(text: str, name: str, expectation: Expectation) -> str:
    """Return a file of examples with one more table ``[[next]]``, or as it is if it has that.

    ``name`` stands for the file, and does not matter in ``expectation``. Raises ``ExampleError``
    for a file that is malformed or cannot be added to, and for bytes that are not UTF-8.
    """
    expectations = [case for case in read_toml(text, name) if isinstance(case, Expectation)]
    if any(replace(case, name=expectation.name) == expectation for case in expectations):
        return text
    try:
        after = _quoted(expectation.after)
        symbol = expectation.symbol
        token = str(symbol) if isinstance(symbol, int) else _quoted(symbol)
    except UnicodeDecodeError:
        raise ExampleError(name, "an example is about text in UTF-8") from None
    key = "allowed" if expectation.allowed else "rejected"
    before = f"{text.rstrip()}\n\n" if text.strip() else ""
    added = f"{before}[[next]]\nafter = {after}\n{key} = [{token}]\n"
    # A list `next = [...]` cannot have tables beside it.
    read_toml(added, name)
    return added


def _quoted(data: bytes) -> str:
    """Return a text as TOML writes it; its escapes are those of JSON, and one more."""
    return json.dumps(data.decode(), ensure_ascii=False).replace("\x7f", "\\u007f")


def run_examples(
    engine: Engine, examples: Iterable[Example | Expectation]
) -> Iterator[ExampleOutcome]:
    """Yield the outcome of each example at the beginning of ``engine``, which stays unchanged.

    A text is accepted if it is complete under the engine's way to end, taken as one token: with
    ``eager`` its last byte, and none before it, finishes; with ``eos`` it may end there.
    """
    start = copy.copy(engine)
    start.reset()
    for example in examples:
        fresh = copy.copy(start)
        if isinstance(example, Example):
            yield _run_text(fresh, example)
        else:
            yield _run_expectation(fresh, example)


def _run_text(engine: Engine, example: Example) -> ExampleOutcome:
    try:
        engine.try_accept_new_bytes(example.data)
    except RejectedError as error:
        if not example.accepted:
            return ExampleOutcome(example, Status.PASSED)
        message = f"it is refused: {engine.why(example.data).reason}"
        return ExampleOutcome(example, Status.FAILED, message, error.byte_offset)
    if engine.can_finish() == example.accepted:
        message = _wrong_capture(engine, example) if example.captures else ""
        return ExampleOutcome(example, Status.FAILED if message else Status.PASSED, message)
    if example.accepted:
        message = "it is not complete: more has to follow"
        return ExampleOutcome(example, Status.FAILED, message, len(example.data))
    return ExampleOutcome(example, Status.FAILED, "it is accepted")


def _wrong_capture(engine: Engine, example: Example) -> str:
    """Return which rule matched other texts than the example says, empty where none did."""
    tree = engine.grammar.parse(example.data)
    for rule, wanted in example.captures:
        if rule not in engine.grammar.parser.names:
            return f"the grammar has no rule `{rule}`"
        texts_of_rule = tuple(node.text for node in tree.find_all(rule))
        if texts_of_rule != wanted:
            texts = ", ".join(map(repr, texts_of_rule)) or "nothing"
            return f"`{rule}` matches {texts}, not {', '.join(map(repr, wanted)) or 'nothing'}"
    return ""


def _run_expectation(engine: Engine, expectation: Expectation) -> ExampleOutcome:
    try:
        engine.try_accept_new_bytes(expectation.after)
    except EngineError as error:
        message = f"the text in front of it is refused: {error}"
        return ExampleOutcome(expectation, Status.FAILED, message)
    symbol, vocabulary = expectation.symbol, engine.vocabulary
    ids = vocabulary.token_ids(symbol) if isinstance(symbol, bytes) else (symbol,)
    if not ids or ids[0] not in vocabulary:
        return ExampleOutcome(
            expectation, Status.SKIPPED, f"the vocabulary has no token {symbol!r}"
        )
    if all(can_come(engine, token_id) == expectation.allowed for token_id in ids):
        return ExampleOutcome(expectation, Status.PASSED)
    verdict = "is not allowed" if expectation.allowed else "is allowed"
    reason = engine.why(ids[0]).reason if expectation.allowed else ""
    return ExampleOutcome(
        expectation, Status.FAILED, ": ".join(filter(None, (f"{show(symbol)} {verdict}", reason)))
    )


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of several branches at one place of a rule."""

    rule: str
    span: Span


@dataclass(frozen=True, slots=True)
class Coverage:
    """Rules and alternatives that the start reaches, and those of them that no example uses.

    Both are in the order of the grammar; rules that only `except!` names are not reached. An
    alternative is used by a text if the tree of the text has it. ``given_up`` counts the texts that
    have too many derivations for one to be chosen.
    """

    rules: tuple[str, ...]
    unused_rules: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    unused_alternatives: tuple[Alternative, ...]
    given_up: int


def cover(
    grammar: GrammarRules,
    texts: Iterable[bytes],
    names: Mapping[str, str | None] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Coverage:
    """Return the rules and alternatives in the trees of ``texts``, all of the language.

    ``names`` gives the author's name of a rule, where that is another one; None for a rule that a
    conversion made, which is left out. Several rules of one name are one: it is used if one is.
    """
    names = names or {}
    marked, alternatives = _with_rules_for_alternatives(grammar)
    parser = Parser(marked, limits)
    used: set[str] = set()
    given_up = 0
    for text in texts:
        try:
            used |= parser.parse(text).rules
        except ParseError:
            # It has tokens, which a text cannot say.
            continue
        except WorkLimitError:
            given_up += 1
    written = {name: names.get(name, name) for name in grammar.rules if name in _reached(grammar)}
    rules = tuple(dict.fromkeys(name for name in written.values() if name is not None))
    used_rules = {name for rule, name in written.items() if rule in used}
    named = {
        rule: Alternative(name, alternative.span)
        for rule, alternative in alternatives.items()
        if (name := written.get(alternative.rule)) is not None
    }
    every = sorted(set(named.values()), key=lambda alternative: alternative.span)
    taken = {alternative for rule, alternative in named.items() if rule in used}
    return Coverage(
        rules,
        tuple(name for name in rules if name not in used_rules),
        tuple(every),
        tuple(alternative for alternative in every if alternative not in taken),
        given_up,
    )


def _with_rules_for_alternatives(
    grammar: GrammarRules,
) -> tuple[GrammarRules, dict[str, Alternative]]:
    """Return the grammar with each alternative in a rule of its own, and those by their rules."""
    rules: dict[str, Node] = {}
    alternatives: dict[str, Alternative] = {}
    for name, body in grammar.rules.items():

        def marked(node: Node, children: list[Node], owner: str = name) -> Node:
            if not isinstance(node, Choice):
                return rebuild(node, children)
            calls_of: list[Node] = []
            for branch, operand in zip(node.branches, children, strict=True):
                if isinstance(branch, Choice):
                    calls_of.append(operand)
                    continue
                # No rule of a grammar has a blank in its name.
                rule = f"{owner} {len(alternatives)}"
                rules[rule] = operand
                alternatives[rule] = Alternative(owner, branch.span)
                calls_of.append(Call(rule, branch.span))
            return rebuild(node, calls_of)

        rules[name] = fold(body, marked)
    return GrammarRules(grammar.start, rules), alternatives


def _reached(grammar: GrammarRules) -> set[str]:
    callees = {name: [c.nonterminal for c in calls(body)] for name, body in grammar.rules.items()}
    return reachable([grammar.start], callees)
