"""Properties of grammars that the reference engines' bugs depend on."""

from kbnf_testing import grammar as g
from kbnf_testing.bnf import Productions, to_productions
from kbnf_testing.earley import Recogniser
from kbnf_testing.leaves import matcher_of


def _nullable_symbols(productions: Productions) -> set[int]:
    """Return the symbols that derive the empty word."""
    nullable = {
        symbol
        for symbol, leaf in productions.leaves.items()
        if matcher_of(leaf, lambda body: Recogniser(g.Grammar({"start": body}))).contains("")
    }
    while True:
        found = {head for head, body in productions.rules if nullable.issuperset(body)}
        if found <= nullable:
            return nullable
        nullable |= found


def has_nullable_part(grammar: g.Grammar) -> bool:
    """Return whether some part of a rule can be empty; the inside of a regex does not count."""
    names: set[str] = set()
    while found := {name for name, body in grammar.rules.items() if _can_be_empty(body, names)}:
        if found == names:
            break
        names = found
    return any(
        _can_be_empty(part, names) for body in grammar.rules.values() for part in _parts(body)
    )


def _parts(node: g.Expression) -> list[g.Expression]:
    inner = () if isinstance(node, g.Regex | g.Early | g.Never) else g.children(node)
    return [node, *(part for child in inner for part in _parts(child))]


def _can_be_empty(node: g.Expression, names: set[str]) -> bool:
    match node:
        case g.Reference():
            return node.name in names
        case g.Literal():
            return node.data == b""
        case g.Substrings():
            return True
        case g.Regex():
            return _can_be_empty(node.body, names)
        case g.Sequence():
            return all(_can_be_empty(part, names) for part in node.parts)
        case g.Choice():
            return any(_can_be_empty(branch, names) for branch in node.branches)
        case g.Repeat():
            return node.low == 0 or _can_be_empty(node.body, names)
        case _:
            return False


def has_unit_cycle(grammar: g.Grammar) -> bool:
    """Return whether some symbol derives itself in one or more steps, and nothing else."""
    productions = to_productions(grammar)
    nullable = _nullable_symbols(productions)
    reached: dict[int, set[int]] = {}
    for head, body in productions.rules:
        for place, symbol in enumerate(body):
            if nullable.issuperset(body[:place] + body[place + 1 :]):
                reached.setdefault(head, set()).add(symbol)
    for middle, further in reached.items():
        for symbols in reached.values():
            if middle in symbols:
                symbols.update(further)
    return any(head in symbols for head, symbols in reached.items())


def is_recursive(grammar: g.Grammar, name: str) -> bool:
    """Return whether the rule of ``name`` leads to ``name`` again."""
    reached: set[str] = set()
    agenda = [name]
    while agenda:
        for part in _parts(grammar.rules[agenda.pop()]):
            if isinstance(part, g.Reference) and part.name not in reached:
                reached.add(part.name)
                agenda.append(part.name)
    return name in reached
