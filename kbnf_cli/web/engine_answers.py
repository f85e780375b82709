"""The page's data from the engine: texts and their trees, samples, tokens, other engines.

Tests: tests/web/test_server.py
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from heapq import nsmallest
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

from kbnf_cli.console import Console
from kbnf_cli.escaped import describe_bytes, escaped, shown
from kbnf_cli.inputs import read_vocabulary
from kbnf_cli.web import answers
from kbnf_cli.web.answers import Question, Shown, VocabularyName, clip, findings, span_fields
from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.text.errors import KbnfError, ParseError, RejectedError
from kbnf_core.text.source import Source

if TYPE_CHECKING:
    from kbnf_core import Explanation, Tree
    from kbnf_core.frontend import Reading
    from kbnf_core.recognise.explain import LiveSite

_TOKENS, _MOST_SITES, _NODES = 200, 8, 1_000
"""Entries that a list shows."""

_SAMPLES, _LENGTH = 5, 32
"""Texts that are drawn at once, and the choices in each."""

_FORCED = 200
"""Bytes of forced text that are shown."""


@lru_cache(maxsize=2)
def _grammar(reading: "Reading") -> Grammar:
    return Grammar.of(reading, reading.limits)


@lru_cache(maxsize=8)
def _vocabulary(name: VocabularyName) -> Vocabulary:
    return read_vocabulary(Console(), *name)


def try_vocabulary(name: VocabularyName) -> Iterator[str]:
    """Yield why a vocabulary cannot be used; nothing for one that can."""
    try:
        _vocabulary(name)
    except KbnfError as error:
        yield clip(str(error).removeprefix(f"{name[0]}: "))
    else:
        yield ""


def _texts(question: Question, reading: "Reading") -> dict[str, Any]:
    """Return the status of each text, and the tree of the chosen one."""
    grammar = _grammar(reading)
    shown: dict[str, Any] = {"statuses": [_fits(grammar, text) for text in question.texts]}
    if question.chosen < len(question.texts):
        shown |= _tree(grammar, question.texts[question.chosen])
    return shown


def _fits(grammar: Grammar, text: str) -> str:
    """Return whether the start derives a text, whatever the way to finish."""
    try:
        grammar.parser.check(text.encode())
    except ParseError as error:
        return "incomplete" if error.is_unfinished else "rejected"
    return "complete"


def _tree(grammar: Grammar, text: str) -> dict[str, Any]:
    """Return the tree of a text, or its certain part, and where it stops fitting."""
    data = text.encode()
    units = _units_of_bytes(text)
    problem: ParseError | None = None
    tree: Tree | None
    try:
        tree = grammar.parse(data)
    except ParseError as error:
        problem = error
        data = data[: error.offset]
        tree = grammar.parser.partial(data)
    nodes = [] if tree is None else list(islice(tree.walk(), _NODES))
    return {
        "nodes": [
            {
                "depth": depth,
                "rule": node.rule or f"token {node.token}",
                "start": units[node.start],
                "end": units[node.end],
                "open": not node.is_closed,
                "leaf": len(node) == 1,
            }
            for depth, node in nodes
        ],
        "more": 0 if tree is None else len(tree) - len(nodes),
        "rest": units[len(data)],
        "problem": None if problem is None else _problem(grammar, problem, text.encode()),
    }


def _units_of_bytes(text: str) -> list[int]:
    """Return where UTF-16 has each byte of a text's UTF-8, and its end."""
    units: list[int] = []
    at = 0
    for character in text:
        units += [at] * len(character.encode())
        at += 1 + (character > "\uffff")
    return [*units, at]


def _problem(grammar: Grammar, error: ParseError, data: bytes) -> dict[str, Any]:
    """Return why a text does not fit, with the places of the grammar that expect something else."""
    if error.is_unfinished:
        return {
            "allowed": True,
            "reason": "the text is incomplete",
            "expected": clip(describe_bytes(error.expected)),
            "places": [],
            "more": 0,
        }
    engine = Engine(grammar, Vocabulary.bytes(), finish="eos")
    return _explained(engine.why(data), grammar.source)


def _samples(question: Question, reading: "Reading") -> list[str]:
    """Return random texts."""
    from kbnf_core.examples.sampling import sample_texts

    engine = Engine(_grammar(reading), Vocabulary.bytes())
    drawn = sample_texts(engine, _SAMPLES, question.seed, _LENGTH)
    return [text.decode("utf-8", "replace") for text in drawn.texts]


def _tokens(question: Question, reading: "Reading") -> dict[str, Any]:
    """Return which tokens may follow a text, why, and how long finding out took."""
    grammar = _grammar(reading)
    engine = Engine(grammar, _vocabulary(question.vocabulary))
    data = question.text.encode()
    begun = perf_counter()
    taken, rejection = _feed(engine, data)
    fed = perf_counter()
    engine.compute_allowed_token_ids()
    masked = perf_counter()
    forced = engine.forced_bytes(_FORCED)
    answers: dict[str, Any] = {
        "status": _status(engine, rejection),
        "rest": len(data[:taken].decode("utf-8", "ignore").encode("utf-16-le")) // 2,
        "rejection": None if rejection is None else _explained(rejection, grammar.source),
        "mask": _mask(engine, question.find),
        "forced": {"text": forced.decode("utf-8", "ignore"), "shown": shown(forced)},
        "microseconds": {"text": _micro(fed - begun), "mask": _micro(masked - fed)},
    }
    if question.why:
        token = re.fullmatch(r"#(\d{1,8})", question.why)
        symbol = int(token[1]) if token else question.why
        explained = _explained(engine.why(symbol), grammar.source)
        answers["why"] = {"asked": _name(engine.vocabulary, symbol), **explained}
    return answers


def _micro(seconds: float) -> int:
    return round(seconds * 1e6)


def _feed(engine: Engine, data: bytes) -> "tuple[int, Explanation | None]":
    """Feed as much of a text as fits; return how much, and why not all of it."""
    if not data:
        return 0, None
    try:
        engine.try_accept_new_bytes(data)
    except RejectedError as error:
        why, taken = engine.why(data), error.byte_offset
        if taken:
            engine.try_accept_new_bytes(data[:taken])
        return taken, why
    return len(data), None


def _status(engine: Engine, rejection: "Explanation | None") -> str:
    if rejection is not None:
        return "rejected"
    if engine.is_finished():
        return "finished"
    if engine.can_finish():
        return "complete"
    return "stuck" if engine.is_stuck() else "incomplete"


def _mask(engine: Engine, find: str) -> dict[str, Any]:
    """Return the mask: the tokens of its smaller side, or those that are searched for."""
    vocabulary = engine.vocabulary
    allowed = set(engine.get_allowed_token_ids_from_last_computation())
    every = [token_id for token_id in range(vocabulary.size) if token_id in vocabulary]
    # Before the end of a text, special tokens that nothing names are refused: they count, too.
    refused = len(every) - len(allowed)
    side = "found" if find else "allowed" if len(allowed) <= refused else "refused"
    if find:
        listed = [token_id for token_id in every if find in _name(vocabulary, token_id)]
    else:
        listed = [token_id for token_id in every if (token_id in allowed) is (side == "allowed")]
    first = nsmallest(_TOKENS, listed, key=lambda token_id: _order(vocabulary, token_id))
    return {
        "allowed": len(allowed),
        "total": len(every),
        "side": side,
        "count": len(listed),
        "tokens": [
            {
                "id": token_id,
                "text": clip(_name(vocabulary, token_id)),
                "special": token_id in vocabulary.special_ids,
                "allowed": token_id in allowed,
            }
            for token_id in first
        ],
    }


def _order(vocabulary: Vocabulary, token_id: int) -> tuple[bool, int, bytes, int]:
    """Return the key that sorts special tokens first, then short ones."""
    data = vocabulary.token(token_id) or b""
    return token_id not in vocabulary.special_ids, len(data), data, token_id


def _name(vocabulary: Vocabulary, symbol: int | str) -> str:
    if isinstance(symbol, str):
        return escaped(symbol.encode())
    if symbol in vocabulary.special_ids:
        return vocabulary.token_string(symbol) or "end of sequence"
    return escaped(vocabulary.token(symbol) or b"")


def _explained(why: "Explanation", source: Source) -> dict[str, Any]:
    sites = sorted(why.sites, key=lambda site: (site.span, site.rules))
    return {
        "allowed": why.allowed,
        "reason": clip(why.reason),
        "expected": clip(describe_bytes(why.expected)) if sites else "",
        "places": list(_sites(sites, source)),
        "more": max(0, len(sites) - _MOST_SITES),
    }


def _sites(sites: "Iterable[LiveSite]", source: Source) -> Iterator[dict[str, Any]]:
    for site, _ in zip(sites, range(_MOST_SITES), strict=False):
        yield {
            "path": [name[:80] for name in site.rules],
            "symbol": clip(source.slice(site.span), 80),
            **span_fields(source, site.span),
        }


def _targets(question: Question, reading: "Reading") -> dict[str, Any]:
    """Return the verdicts of the installed engines on the grammar or schema."""
    from kbnf_core.targets import ALL
    from kbnf_core.targets.check import Panel, check_grammar, check_targets

    del question
    panel = Panel([ALL])
    try:
        if reading.language.is_json:
            checked = check_targets(reading.parsed.source, reading.language, panel)
        else:
            checked = check_grammar(_grammar(reading), panel)
    finally:
        panel.close()
    return {
        "asked": [*(target.summary for target in panel.targets), *panel.failures],
        "rows": [
            {"tool": row.tool, "target": row.target, "verdict": row.verdict} for row in checked.rows
        ],
        **findings(checked.findings),
    }


_SHOWN: Shown = {
    "texts": _texts,
    "samples": _samples,
    "tokens": _tokens,
    "targets": _targets,
}


def answer(question: Question) -> Iterator[dict[str, Any]]:
    """Yield the views, each time more of them, as ``answers.answer`` does."""
    yield from answers.answer(question, _SHOWN)
