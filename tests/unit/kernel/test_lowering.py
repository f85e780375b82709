"""Lowering, compiled and as it is written in Python: the same results for any grammar."""

import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from kbnf_core import Grammar, ir
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.lower.chosen_kernel import PLAIN
from kbnf_core.lower.translate import translate
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import Source
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


def compare(grammar: Grammar, compiled: ModuleType) -> None:
    """Put every rule through both."""
    rules, analysis = grammar.rules, grammar.analysis
    spent: list[tuple[Any, ...]] = []
    modules: list[dict[str, Any]] = [vars(compiled), PLAIN]
    for module in modules:
        budget = Budget(DEFAULT_LIMITS.work)
        solved = module["solve"](analysis.nodes, analysis.callees, budget)
        assert solved == {name: analysis.facts[name] for name in solved}
        order = module["order_from"](list(analysis.nodes), analysis.callees)
        spent.append((list(solved), order, budget.spent, budget.subject))
    assert spent[0] == spent[1]
    for name, body in rules.rules.items():
        nodes = analysis.nodes[name]
        assert compiled.nodes_and_calls(body) == PLAIN["nodes_and_calls"](body)
        assert compiled.facts_of(nodes, analysis.facts) is PLAIN["facts_of"](nodes, analysis.facts)


@pytest.mark.parametrize("seed", range(60))
def test_both_lower_random_grammars_alike(compiled: ModuleType, seed: int) -> None:
    grammar = random_grammar(seed)
    if grammar is not None:
        compare(grammar, compiled)


@pytest.mark.parametrize("path", sorted(GRAMMARS.glob("*.kbnf")), ids=lambda path: path.stem)
def test_both_lower_real_grammars_alike(compiled: ModuleType, path: Path) -> None:
    compare(Grammar(path.read_text(encoding="utf-8")), compiled)


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


def test_all_that_is_marked_is_compiled(compiled: ModuleType) -> None:
    assert {name for name in vars(compiled) if name in PLAIN} == set(PLAIN)


@pytest.mark.parametrize("first", ["kbnf_core.grammar", "kbnf_core.lower.facts"])
def test_the_compiled_form_is_used_whatever_is_imported_first(first: str) -> None:
    # A circle of imports would leave the plain form in use, and nobody would see.
    code = (
        f"import {first}; from kbnf_core.lower.chosen_kernel import lowering as found; print(found)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "_lowering" in run.stdout


def test_a_repetition_keeps_its_loop_from_its_alternatives() -> None:
    grammar = Grammar("start ::= 'b'* | 'c';", finish="eos")
    found = {text: grammar.status(text) for text in ("", "bb", "c", "bc", "cb")}
    assert found == {"": "fits", "bb": "fits", "c": "fits", "bc": "wrong", "cb": "wrong"}


def test_a_missing_start_names_rules_of_the_text_only() -> None:
    """Readers make rules at places of others: for loops, columns, members of templates."""
    document = parse_kbnf(Source("a ::= 'x'; b ::= 'y';")).document
    first = document.definitions[0]
    made = replace(first, name=tree.Name("rounds26", first.name.span))
    (finding,) = translate(replace(document, definitions=(made, *document.definitions))).diagnostics
    assert finding.notes == ("no other rule uses `a`, `b`",)
