"""Which rules and alternatives examples use: those in the trees that ``kbnf parse`` shows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kbnf_core.automata.algebra import fold, rebuild
from kbnf_core.ir import Call, Choice, Grammar, Node, calls
from kbnf_core.ir.analysis import reachable
from kbnf_core.parse.parser import Parser
from kbnf_core.text.errors import ParseError, WorkLimitError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Span


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
    grammar: Grammar,
    texts: Iterable[bytes],
    names: Mapping[str, str | None] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Coverage:
    """Return what the trees of ``texts``, all of the language, are made of.

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
        rule: Alternative(name, each.span)
        for rule, each in alternatives.items()
        if (name := written.get(each.rule)) is not None
    }
    every = sorted(set(named.values()), key=lambda each: each.span)
    taken = {each for rule, each in named.items() if rule in used}
    return Coverage(
        rules,
        tuple(name for name in rules if name not in used_rules),
        tuple(every),
        tuple(each for each in every if each not in taken),
        given_up,
    )


def _with_rules_for_alternatives(grammar: Grammar) -> tuple[Grammar, dict[str, Alternative]]:
    """Return the grammar with each alternative in a rule of its own, and those by their rules."""
    rules: dict[str, Node] = {}
    alternatives: dict[str, Alternative] = {}
    for name, body in grammar.rules.items():

        def marked(node: Node, parts: list[Node], owner: str = name) -> Node:
            if not isinstance(node, Choice):
                return rebuild(node, parts)
            calls_of: list[Node] = []
            for branch, part in zip(node.branches, parts, strict=True):
                if isinstance(branch, Choice):
                    calls_of.append(part)
                    continue
                # No rule of a grammar has a blank in its name.
                rule = f"{owner} {len(alternatives)}"
                rules[rule] = part
                alternatives[rule] = Alternative(owner, branch.span)
                calls_of.append(Call(rule, branch.span))
            return rebuild(node, calls_of)

        rules[name] = fold(body, marked)
    return Grammar(grammar.start, rules), alternatives


def _reached(grammar: Grammar) -> set[str]:
    callees = {name: [c.nonterminal for c in calls(body)] for name, body in grammar.rules.items()}
    return reachable([grammar.start], callees)
