"""Automata of JSON strings of some lengths: a product with a counter, instead of a rule per count.

The automaton of all strings has one state between characters. Beside it, an automaton of some
strings knows where characters end, and each arrival there is counted; the opening quote arrives
there first. What comes of it is a state for each count at each state inside of characters, too.
"""

from kbnf_core.automata.determinise import from_symbols
from kbnf_core.automata.dfa import DEAD, Dfa, SymbolDfa
from kbnf_core.automata.explore import explore
from kbnf_core.automata.product import Product
from kbnf_core.budget import Budget
from kbnf_core.languages.json_schema.atoms import Length

_Counted = tuple[int, int]
"""A state of the product, and how many characters came; those that need no bound are one."""

_QUOTE = ord('"')


def counted(texts: Dfa, strings: Dfa, length: Length, most: int, budget: Budget) -> Dfa:
    """Return those of ``texts`` that have so many characters; ``strings`` are all texts.

    Raises LimitError beyond ``most`` states.
    """
    product = Product(texts, strings)
    pairs, rows = explore([product.start], product.while_all)
    between = strings.rows[0][strings.classes[_QUOTE]]
    arrives = [pair[1] == between for pair in pairs]
    ends = [all(product.accepting(pair)) for pair in pairs]
    # Few states follow each; where they stand in its row is the same for all counts.
    following = [tuple(dict.fromkeys(row)) for row in rows]
    places = [
        [targets.index(target) for target in row]
        for row, targets in zip(rows, following, strict=True)
    ]
    most_needed = length.low if length.high is None else length.high

    def step(state: _Counted) -> list[_Counted | None]:
        pair, count = state
        budget.spend(len(following[pair]))
        found: list[_Counted | None] = []
        for target in following[pair]:
            after = count + (target != DEAD and arrives[target])
            if after > most_needed and length.high is None:
                after = most_needed
            found.append(None if target == DEAD or after > most_needed else (target, after))
        return found

    states, targets = explore([(0, -1)], step, most)
    table = [
        [row[place] for place in places[pair]]
        for row, (pair, _) in zip(targets, states, strict=True)
    ]
    tags = [int(ends[pair] and count >= length.low) for pair, count in states]
    return from_symbols(SymbolDfa(table, tags, [0]), product.classes, budget)
