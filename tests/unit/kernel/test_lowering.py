"""Lowering, compiled and as it is written in Python: the same results for any grammar."""

import subprocess
import sys
from array import array
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from kbnf_core import Grammar, ir
from kbnf_core.kbnf import tree
from kbnf_core.lower import inline
from kbnf_core.lower.assemble import number_symbols
from kbnf_core.lower.chosen_kernel import PLAIN
from kbnf_core.lower.compact import Piece
from kbnf_core.lower.counts import UncountableError
from kbnf_core.lower.nfa import NfaBuilder, TooManyStatesError
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import GrammarError, WorkLimitError
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_testing.counts import counted_pair
from kbnf_testing.generate import Features, GrammarMaker
from kbnf_testing.printer import to_kbnf

GRAMMARS = Path(__file__).resolve().parents[3] / "grammars"


@pytest.fixture(scope="module")
def compiled() -> ModuleType:
    """Return the compiled functions."""
    return import_module("kbnf_core.lower._lowering")


def random_grammar(seed: int) -> Grammar | None:
    """Return a random grammar, which may have no text at all: then None."""
    try:
        return Grammar(to_kbnf(GrammarMaker(Random(seed), Features()).grammar()))
    except GrammarError:
        return None


def builder_of(grammar: Grammar, budget: Budget, limit: int, inlined: inline.Inlined) -> NfaBuilder:
    rules, analysis = grammar.rules, grammar.analysis
    alphabet = number_symbols(rules, analysis, inlined)
    return NfaBuilder(dict(rules.rules), analysis, alphabet, inlined.names, limit, budget)


def outcome(connect: Callable[..., Any], builder: NfaBuilder, name: str) -> object:
    """Return the automaton, its edges in one order, and the work; or why there is none."""
    try:
        states, *columns = connect(builder, name)
    except (TooManyStatesError, WorkLimitError) as error:
        return type(error), str(error), builder.budget.spent
    source, symbol, target, *free = (np.frombuffer(c, np.int32).tolist() for c in columns)
    edges = sorted(zip(source, symbol, target, strict=True))
    return states, edges, sorted(zip(*free, strict=True)), builder.budget.spent


def compare(grammar: Grammar, compiled: ModuleType, work: int, limit: int) -> None:
    """Put every rule through both."""
    rules, analysis = grammar.rules, grammar.analysis
    chosen = inline.choose_inlined(rules, analysis, Budget(DEFAULT_LIMITS.work))
    some = chosen._replace(copied=())
    counted = analysis.reachable, analysis.nodes, analysis.callees
    assert compiled.count_uses(*counted) == PLAIN["count_uses"](*counted)
    inside = list(analysis.nodes), analysis.nodes
    for most in range(4):
        for size in (2, 9, 1_000):
            bounds = *inside, most, size
            assert compiled.large_ones(*bounds) == PLAIN["large_ones"](*bounds)
        for many in (50, 10**9):
            bounds = *inside, most, many
            assert compiled.with_counts(*bounds) == PLAIN["with_counts"](*bounds)
    among = analysis.order, analysis.nodes, analysis.callees, PLAIN["count_uses"](*counted)
    spent: list[tuple[Any, ...]] = []
    modules: tuple[Mapping[str, Any], ...] = (vars(compiled), PLAIN)
    for module in modules:
        budget = Budget(DEFAULT_LIMITS.work)
        solved = module["solve"](analysis.nodes, analysis.callees, budget)
        assert solved == {name: analysis.facts[name] for name in solved}
        chosen_here = module["choose"](*among, rules.start, budget)
        spent.append((list(solved), chosen_here, budget.spent, budget.part))
        spent[-1] += (module["order_from"](inside[0], analysis.callees),)
    assert spent[0] == spent[1]
    bodies = list(analysis.nodes.values())
    assert compiled.leaves_of(bodies) == PLAIN["leaves_of"](bodies)
    for name, body in rules.rules.items():
        nodes = analysis.nodes[name]
        assert compiled.parts_of(body) == PLAIN["parts_of"](body)
        assert compiled.facts_of(nodes, analysis.facts) is PLAIN["facts_of"](nodes, analysis.facts)
        sizes = dict.fromkeys(rules.rules, 7)
        arguments = nodes, sizes, chosen.names
        assert compiled.estimate_size(*arguments) == PLAIN["estimate_size"](*arguments)
        for inlined in (inline.Inlined(), some):
            one, other = (builder_of(grammar, Budget(work), limit, inlined) for _ in range(2))
            if name in analysis.reachable:
                found = outcome(compiled.connect, one, name)
                assert found == outcome(PLAIN["connect"], other, name)


@pytest.mark.parametrize("seed", range(60))
def test_both_lower_random_grammars_alike(compiled: ModuleType, seed: int) -> None:
    grammar = random_grammar(seed)
    if grammar is not None:
        compare(grammar, compiled, *Random(seed).choice([(10_000_000, 10_000), (9, 99), (99, 9)]))


@pytest.mark.parametrize("path", sorted(GRAMMARS.glob("*.kbnf")), ids=lambda path: path.stem)
def test_both_lower_real_grammars_alike(compiled: ModuleType, path: Path) -> None:
    compare(Grammar(path.read_text(encoding="utf-8")), compiled, 10_000_000, 100_000)


def test_both_copy_fragments_alike(compiled: ModuleType) -> None:
    grammar = Grammar("start ::= A 'x' A | A?; A ::= #'[a-c]+' 'd'{2,3};")
    found = []
    for connect in (compiled.connect, PLAIN["connect"]):
        builder = builder_of(grammar, Budget(10_000), 1_000, inline.Inlined(frozenset("A"), ("A",)))
        piece = import_module("kbnf_core.lower.compact").compact(builder, "A")
        builder.fragments["A"] = piece.fragment
        found.append(outcome(connect, builder, "start"))
    assert found[0] == found[1]


def test_both_list_the_edges_of_automata_alike(compiled: ModuleType) -> None:
    rows, classes = [[1, -1, 0], [-1, -1, 1]], bytes([0, 1, 2] * 85 + [1])
    chosen = [2, 0, 1, 0]
    assert compiled.edges_of(rows, classes, chosen) == PLAIN["edges_of"](rows, classes, chosen)


def shape_of(root: ir.Node) -> list[object]:
    """Return what tells bodies apart, parts before wholes."""
    found: list[object] = []
    for node in ir.postorder(root):
        own = {name: getattr(node, name) for name in node.__slots__}
        held = {name: value for name, value in own.items() if name not in ("parts", "branches")}
        found.append((type(node), len(ir.children(node)), {**held, "body": None}))
    return found


@pytest.mark.parametrize("path", sorted(GRAMMARS.glob("*.kbnf")), ids=lambda path: path.stem)
def test_both_translate_alike(compiled: ModuleType, path: Path) -> None:
    leaves: dict[int, ir.Node] = {}

    def keep(node: tree.Leaf) -> ir.Node:
        # Leaves mean the same node each time, also calls of what is not defined.
        if isinstance(node, tree.Terminal):
            return leaves.setdefault(id(node), ir.Literal(node.text.value.encode(), node.span))
        return leaves.setdefault(id(node), ir.Choice((), node.span))

    document = Grammar(path.read_text(encoding="utf-8")).reading.document
    defined = {each.name.value for each in document.definitions[::2]}
    for each in document.definitions:
        meanings, budgets = [], []
        kinds: tuple[Any, Any] = compiled.meaning_of, PLAIN["meaning_of"]
        for meaning_of in kinds:
            budget = Budget(10_000)
            meanings.append(shape_of(meaning_of(each.body, keep, defined, budget)))
            budgets.append(budget.spent)
        assert meanings[0] == meanings[1]
        assert budgets[0] == budgets[1] == len(list(tree.postorder(each.body)))


def piece_of(chance: Random, symbols: int) -> Piece:
    """Return a random automaton, its edges by source."""
    states, count = chance.randrange(1, 5), chance.randrange(9)
    edges = sorted(tuple(map(chance.randrange, (states, symbols, states))) for _ in range(count))
    source, symbol, target = (
        array("i", [edge[column] for edge in edges]).tobytes() for column in range(3)
    )
    return Piece(source, symbol, target, bytes(chance.choices(range(2), k=states)), [()] * states)


@pytest.mark.parametrize("seed", range(30))
def test_both_number_the_edges_of_all_pieces_alike(compiled: ModuleType, seed: int) -> None:
    chance = Random(seed)
    classes, called, terminals = (chance.randrange(1, 4) for _ in range(3))
    # The last symbol is that of NEVER, whose edges are left out.
    pieces = [piece_of(chance, classes + called + terminals + 1) for _ in range(called)]
    for piece in pieces:
        column = piece.symbol, classes, called
        assert compiled.nonterminals_in(*column) == PLAIN["nonterminals_in"](*column)
    arguments = pieces, classes, chance.sample(range(called), called), terminals
    assert compiled.split_edges(*arguments) == PLAIN["split_edges"](*arguments)


@pytest.mark.parametrize("seed", range(40))
def test_both_take_counts_out_of_automata_alike(
    compiled: ModuleType, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes: list[object] = []

    def compare_folds(name: str, *arguments: Any) -> object:
        found: list[object] = []
        folds: tuple[Any, Any] = compiled.fold, PLAIN["fold"]
        for fold in folds:
            try:
                columns = fold(name, *arguments)
                found.append((columns[:4], list(map(tuple, columns[4]))))
            except UncountableError as error:
                found.append((str(error), []))
        assert found[0] == found[1]
        outcomes.append(found[0])
        return compiled.fold(name, *arguments)

    monkeypatch.setattr("kbnf_core.lower.assemble.fold", compare_folds)
    counted_pair(Random(seed), 9)
    assert outcomes


def test_all_that_is_marked_is_compiled(compiled: ModuleType) -> None:
    assert {name for name in vars(compiled) if name in PLAIN} == set(PLAIN)


@pytest.mark.parametrize("first", ["kbnf_core.grammar", "kbnf_core.lower.facts"])
def test_the_compiled_form_is_used_whatever_is_imported_first(first: str) -> None:
    # A circle of imports would leave the plain form in use, and nobody would see.
    code = (
        f"import {first}; from kbnf_core.lower.chosen_kernel import LOWERING as found; print(found)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "_lowering" in run.stdout
