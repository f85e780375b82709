"""The program of a Python regular expression, for a Pike VM.

The instructions are those of Pike's machine (R. Cox, "Regular Expression Matching: the Virtual
Machine Approach", 2009), but single characters are automata, and so are look-ahead and look-behind.
"""

from dataclasses import dataclass
from enum import Enum, auto

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.regex import compile_regex
from kbnf_core.languages.lark.regex import tree as regex

_MOST_INSTRUCTIONS = 20_000


class Kind(Enum):
    """What an instruction does: end, read a character, try several ways, look around."""

    MATCH = auto()
    LEAF = auto()
    SPLIT = auto()
    AHEAD = auto()
    BEHIND = auto()


@dataclass(frozen=True, slots=True)
class Instruction:
    """``automaton``: which one it runs; ``targets``: where it goes on, in order of preference."""

    kind: Kind
    targets: tuple[int, ...] = ()
    automaton: int = 0
    is_negated: bool = False


class Program:
    """The instructions of one pattern; equal leaves share an automaton.

    ``behind`` are the automata that look-behinds run over all text before. ``found`` makes the
    automaton of the texts that begin with a match of a node, which is what a look-ahead asks.
    """

    def __init__(self, root: regex.Node) -> None:
        self.code: list[Instruction] = []
        self.automata: list[Dfa] = []
        self.behind: list[int] = []
        self._leaves: dict[str, int] = {}
        self._add(Instruction(Kind.MATCH))
        self.start = self._node(root, 0)

    def _add(self, instruction: Instruction) -> int:
        if len(self.code) >= _MOST_INSTRUCTIONS:
            raise LimitError("instructions", _MOST_INSTRUCTIONS)
        self.code.append(instruction)
        return len(self.code) - 1

    def _node(self, node: regex.Node, after: int) -> int:
        """Write ``node`` so that it goes on at ``after``; return where it starts.

        Recursion is bounded: Python's own parser refuses patterns that are nested too deeply.
        """
        match node:
            case regex.Character(text):
                return self._add(Instruction(Kind.LEAF, (after,), self._leaf(text)))
            case regex.Sequence(items):
                for item in reversed(items):
                    after = self._node(item, after)
                return after
            case regex.Choice(branches):
                targets = tuple(self._node(branch, after) for branch in branches)
                return self._add(Instruction(Kind.SPLIT, targets))
            case regex.Repeat():
                return self._repeat(node, after)
            case regex.Look():
                return self._look(node, after)
            case regex.Edge(is_start):
                return self._edge(is_start, after)

    def _repeat(self, node: regex.Repeat, after: int) -> int:
        if node.high is None:
            loop = self._add(Instruction(Kind.SPLIT))
            body = self._node(node.body, loop)
            targets = (body, after) if node.is_greedy else (after, body)
            self.code[loop] = Instruction(Kind.SPLIT, targets)
            after = loop
        else:
            end = after
            for _ in range(node.high - node.low):
                body = self._node(node.body, after)
                targets = (body, end) if node.is_greedy else (end, body)
                after = self._add(Instruction(Kind.SPLIT, targets))
        for _ in range(node.low):
            after = self._node(node.body, after)
        return after

    def _look(self, node: regex.Look, after: int) -> int:
        from kbnf_core.languages.lark.regex.backtrack import beginnings, matcher

        inner = [*regex.postorder(node.body)]
        if node.is_ahead:
            if any(isinstance(part, regex.Look) and not part.is_ahead for part in inner):
                raise regex.PatternError("a look-behind inside a look-ahead has no counterpart")
            number = self._number(beginnings(node.body))
            return self._add(Instruction(Kind.AHEAD, (after,), number, node.is_negated))
        if any(isinstance(part, regex.Look | regex.Edge) for part in inner):
            raise regex.PatternError("a look-behind that looks around has no counterpart")
        anything = operations.complement(operations.empty())
        dfa = operations.concatenate(anything, matcher(node.body, ordered=False).dfa)
        return self._look_behind(dfa, after, node.is_negated)

    def _look_behind(self, dfa: Dfa, after: int, is_negated: bool = False) -> int:
        number = self._number(dfa)
        self.behind.append(number)
        return self._add(Instruction(Kind.BEHIND, (after,), number, is_negated))

    def _edge(self, is_start: bool, after: int) -> int:
        if is_start:
            return self._look_behind(operations.literal(b""), after)
        number = self._number(operations.complement(operations.literal(b"")))
        return self._add(Instruction(Kind.AHEAD, (after,), number, is_negated=True))

    def _leaf(self, text: str) -> int:
        if text not in self._leaves:
            compiled = compile_regex(text)
            if compiled.dfa is None:
                message = compiled.problems[0].message
                raise regex.PatternError(f"`{text}`: {message}")
            self._leaves[text] = self._number(compiled.dfa)
        return self._leaves[text]

    def _number(self, dfa: Dfa) -> int:
        self.automata.append(dfa)
        return len(self.automata) - 1
