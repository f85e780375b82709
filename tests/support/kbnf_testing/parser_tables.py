"""Writes the parser tables: ``PYTHONPATH=tests/support python -m kbnf_testing.parser_tables``.

Every ``grammar.lark`` of the package has a start ``definition``, which is parsed, and a start
``aside`` with the words that belong to none. Lark makes the tables, here, once; what reads them
(``kbnf.statements``) needs no Lark, whose import takes longer than reading a small grammar. A test
compares grammar and tables.

The tables, in JSON:

- ``scanner``: a regular expression, with its flags, that matches what is ignored and then a word,
  in the group of its kind; ``keywords``: by kind, the texts that are words of another kind.
- ``states``: a row for each state of the LALR(1) automaton, of which the first is the start; by
  symbol the next state, or ``-1 - n`` for the reduction by rule ``n``. ``end`` is the state after a
  whole definition.
- ``rules``: the nonterminal, the callback, the number of parts, which parts it is given (None: all;
  in negative numbers, from -1, those whose own parts are put in their place), and whether a single
  one is taken as it is.
"""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import lark
from lark.lexer import PatternStr
from lark.parsers.lalr_analysis import Shift

import kbnf_core

PACKAGE = Path(kbnf_core.__file__).parent

OPTIONS: dict[str, Any] = {"parser": "lalr", "lexer": "basic", "start": ["definition", "aside"]}


def tables(grammar: str) -> str:
    """Return the parser tables of a Lark grammar with starts ``definition`` and ``aside``.

    They name the grammar by its hash, and the Lark that made them; the same two give the same
    tables, to the byte.
    """
    parser = lark.Lark(grammar, **OPTIONS)
    everything = {
        "origin": {"grammar": sha256(grammar.encode()).hexdigest(), "lark": lark.__version__},
        **_words(parser),
        **_automaton(parser),
    }
    return json.dumps(everything, sort_keys=True) + "\n"


def _words(parser: lark.Lark) -> dict[str, Any]:
    lexer: Any = parser.parse_interactive("", start="aside").lexer_thread.lexer
    if not lexer.terminals:
        # All are declared: the language has a lexer of its own.
        return {"scanner": ["(?!)", 0], "keywords": {}}
    (expression,) = lexer.scanner._mres  # One expression of all terminals.
    ignored = [
        each.pattern.to_regexp() for each in lexer.terminals if each.name in lexer.ignore_types
    ]
    skipped = f"(?:{'|'.join(ignored)})*+" if ignored else ""
    texts = [each for each in lexer.terminals if isinstance(each.pattern, PatternStr)]
    keywords: dict[str, dict[str, str]] = {}
    for kind, callback in lexer.callback.items():
        for each in texts:
            if callback.scanner.fullmatch(each.pattern.value) is not None:
                keywords.setdefault(kind, {})[each.pattern.value] = each.name
    return {
        "scanner": [f"{skipped}(?:{expression.pattern})", expression.flags],
        "keywords": keywords,
    }


def _automaton(parser: lark.Lark) -> dict[str, Any]:
    """Return states, numbered breadth first from the start, and rules, in the order of their text.

    Lark numbers both in the order of a set.
    """
    found: Any = parser.parse_interactive(start="definition").parser_state.parse_conf
    rules = {rule: _rule(rule) for rule in parser.rules}
    texts = sorted(set(map(json.dumps, rules.values())))
    order = {text: number for number, text in enumerate(texts)}
    numbers: dict[Any, int] = {found.start_state: 0}
    pending = [found.start_state]
    rows: list[dict[str, int]] = []
    for state in pending:
        row: dict[str, int] = {}
        for symbol, (action, argument) in sorted(found.states[state].items()):
            if action is Shift:
                if argument not in numbers:
                    numbers[argument] = len(numbers)
                    pending.append(argument)
                row[symbol] = numbers[argument]
            else:
                row[symbol] = -1 - order[json.dumps(rules[argument])]
        rows.append(row)
    return {
        "states": rows,
        "end": numbers[found.end_state],
        "rules": list(map(json.loads, texts)),
    }


def _rule(rule: Any) -> list[Any]:
    parts = []
    for index, symbol in enumerate(rule.expansion):
        if symbol.is_term:
            parts += [] if symbol.filter_out else [index]
        else:
            parts.append(-1 - index if symbol.name.startswith("_") else index)
    is_all = parts == list(range(len(rule.expansion)))
    return [
        rule.origin.name,
        rule.alias or rule.origin.name,
        len(rule.expansion),
        None if is_all else parts,
        bool(rule.options.expand1) and not rule.alias,
    ]


def main() -> None:
    """Rewrite the tables of all grammar files."""
    for file in sorted(PACKAGE.rglob("grammar.lark")):
        file.with_suffix(".tables.json").write_text(tables(file.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
