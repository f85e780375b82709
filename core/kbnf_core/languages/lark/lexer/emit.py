"""From rules over lexemes to definitions in KBNF."""

from dataclasses import dataclass, field

from kbnf_core.automata.dfa import Dfa
from kbnf_core.languages.lark import build_tree
from kbnf_core.languages.lark.lexer.product import Key
from kbnf_core.languages.lark.reader.model import Lexeme, Terminal
from kbnf_core.languages.lark.reader.names import Names
from kbnf_core.source import Span
from kbnf_core.syntax import tree


@dataclass(slots=True)
class Writer:
    """Writes lexemes: short ones where they stand, named ones as definitions of their own."""

    names: Names
    definitions: list[tuple[str, tree.Expression, Span]] = field(default_factory=list)
    _written: dict[int, tuple[Dfa, tree.Expression]] = field(default_factory=dict)

    def lexeme(self, node: Lexeme, dfa: Dfa, is_whole: bool) -> tree.Expression:
        """Return ``dfa``, all or some words of the lexeme's terminal, as KBNF."""
        if id(dfa) not in self._written:
            self._written[id(dfa)] = (dfa, self._write(node.terminal, dfa, is_whole))
        return self._written[id(dfa)][1]

    def _write(self, terminal: Terminal, dfa: Dfa, is_whole: bool) -> tree.Expression:
        span = terminal.span
        symbol = terminal.written if is_whole else None
        if symbol is None:
            symbol = build_tree.write_dfa(dfa, span)
        if symbol is None:
            return self._rules(terminal, dfa)
        if terminal.name is None or (not is_whole and isinstance(symbol, tree.Terminal)):
            return symbol
        name = self.names.fresh(terminal.name)
        self.definitions.append((name, symbol, span))
        return build_tree.reference(name, span)

    def _rules(self, terminal: Terminal, dfa: Dfa) -> tree.Expression:
        """Write an automaton whose words are no text, state by state."""
        name = self.names.fresh(terminal.name or "bytes")
        states = build_tree.write_rules(dfa, name, terminal.span)
        for state, body in states:
            self.definitions.append((state, body, terminal.span))
        return build_tree.reference(name, terminal.span)


def wanted_name(key: Key) -> str:
    """Return the name of a variant."""
    if key.rule.startswith("@"):
        return key.rule[1:]
    name, at_end, _ = key.rule.partition("@end")
    return name.replace("::", "_") + ("_end" if at_end else "")


def definition(name: str, body: tree.Expression, span: Span) -> tree.Definition:
    """Return ``name ::= body;``."""
    return tree.Definition(tree.Name(name, span), body, span)
