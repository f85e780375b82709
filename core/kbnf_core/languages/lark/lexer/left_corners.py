"""Left corners: whether an Earley parser could continue where a part has just ended the text.

What began at the same position as that part was predicted with it: other rules that begin with the
same part go on behind it (``e: e "+" t | t`` after an ``e``), and so may the same part at another
place of the same rule (``x: (y ",")* y`` after a ``y``).
"""

from dataclasses import dataclass

from kbnf_core.languages.lark.lexer.co_expected import Site, next_sites
from kbnf_core.languages.lark.lexer.first_follow import Analysis
from kbnf_core.languages.lark.reader.model import (
    Call,
    Choice,
    Embedded,
    Lexeme,
    LexicalGrammar,
    Node,
    Repeat,
    Sequence,
    Terminal,
)

_Symbol = str | Terminal


@dataclass(frozen=True, slots=True)
class _Corner:
    """A symbol that a rule may begin with; whether more may, or need not, follow in the rule."""

    symbol: _Symbol
    rule: str
    has_more: bool
    is_open: bool


class Continuing:
    """The left corners of a grammar, by rule."""

    def __init__(self, grammar: LexicalGrammar) -> None:
        self._analysis = Analysis(grammar)
        self._corners = {name: self._of_rule(name, body) for name, body in grammar.rules.items()}
        self._closures: dict[str, list[_Corner]] = {}
        self._twins = {key for body in grammar.rules.values() for key in self._with_twins(body)}

    def has_twin(self, node: Lexeme | Call) -> bool:
        """Tell whether, wherever ``node`` is expected, so is the same with more to follow."""
        return id(node) in self._twins

    def _with_twins(self, body: Node) -> set[int]:
        following = [*next_sites(body, self._analysis.is_nullable)]
        goes_on = {id(site): bool(after) for site, after in following}
        found: set[int] = set()
        lonely: set[int] = set()
        for _, sites in following:
            for site in sites:
                rivals = (other for other in sites if other is not site)
                has = any(_is_same(site, other) and goes_on[id(other)] for other in rivals)
                (found if has else lonely).add(id(site))
        return found - lonely

    def _of_rule(self, name: str, body: Node) -> list[_Corner]:
        corners: list[_Corner] = []
        stack = [body]
        while stack:
            node = stack.pop()
            match node:
                case Call(symbol) | Lexeme(symbol):
                    after = self._analysis.after(node)
                    corners.append(_Corner(symbol, name, bool(after.may), after.is_open))
                case Choice(branches):
                    stack.extend(branches)
                case Repeat(inner):
                    stack.append(inner)
                case Sequence(items):
                    for item in items:
                        stack.append(item)
                        if not self._analysis.is_nullable(item):
                            break
                case Embedded():
                    pass
        return corners

    def _closure(self, origin: str) -> list[_Corner]:
        """Return the corners of all rules that ``origin`` may begin with, its own included."""
        if origin not in self._closures:
            names = [origin]
            corners: list[_Corner] = []
            for name in names:
                corners.extend(self._corners[name])
                for corner in self._corners[name]:
                    if isinstance(corner.symbol, str) and corner.symbol not in names:
                        names.append(corner.symbol)
            self._closures[origin] = corners
        return self._closures[origin]

    def goes_on(self, symbol: _Symbol, origin: str) -> bool:
        """Tell whether something may follow ``symbol`` where it and ``origin`` began together."""
        corners = self._closure(origin)
        ended: list[_Symbol] = [symbol]
        for each in ended:
            for corner in corners:
                if corner.symbol == each:
                    if corner.has_more:
                        return True
                    if corner.is_open and corner.rule not in ended:
                        ended.append(corner.rule)
        return False


def _is_same(one: Site, other: Site) -> bool:
    match one, other:
        case Call(left), Call(right):
            return left == right
        case Lexeme(left_terminal), Lexeme(right_terminal):
            return left_terminal is right_terminal
    return False
