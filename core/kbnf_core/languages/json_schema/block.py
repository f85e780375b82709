r"""Block YAML as a syntax of values: plain scalars, and the layout of collections by column.

The writer writes objects and arrays once, for all syntaxes. For this one its separators are marks,
calls of rules that nobody defines: ``LINE`` between members and between items, ``COLON`` after a
key, ``DASH`` before an item, ``GAP`` before a scalar or an empty collection; the content of a
collection has the notation ``Block``. ``lay_out`` replaces the rules that have marks by copies for
each column in which they are needed, and for each place of a value: at the start of a document,
after a colon, after a dash. In these copies marks are line breaks with blanks. Each level has
``STEP`` columns more than the one around it, so a rule that calls itself has at most
``MOST_COLUMNS // STEP`` copies; deeper values have no text.

    object after a colon      a line break, members in deeper lines      key:
                                                                           inner: 1
    object after a dash       a blank, its first member                  - key: 1
                                                                           other: 2
    empty, or a scalar        a blank, its text, a line break            key: {}

*Scalars.* A string may be plain where that is plainly safe: in one line, without the marks of a
comment or of a value, beginning with a letter or with a sign that means nothing there, and none of
the words (`yes`, `null`) that YAML 1.1, by PyYAML's resolver, or YAML 1.2, by its core schema,
reads as something else. So, but for a few words, the first character decides whether a string is
plain. Any string may be in double quotes, with the escapes of JSON and those of characters that
are line breaks or not printable in YAML; of listed texts there is one form, plain if it is safe.
Numbers have an exponent only after a fraction, and with a sign: YAML 1.1 reads others as strings.
Scalars end with their line break, and keys with their colon, so that nothing completes within them.

Tests: tests/unit/languages/json_schema/test_yaml.py
"""

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import NamedTuple

from kbnf_core import ir
from kbnf_core.automata import operations, traversal
from kbnf_core.automata.codepoints import ANY, CodePoints, difference, from_text, union
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.expression import print_characters
from kbnf_core.ir import Node, Notation
from kbnf_core.ir.analysis import reachable
from kbnf_core.ir.build import EMPTY, alternation, call, sequence, text
from kbnf_core.languages.json_schema import Options
from kbnf_core.languages.json_schema.algebra import ANYTHING
from kbnf_core.languages.json_schema.keywords import unsupported
from kbnf_core.languages.json_schema.rules import (
    LETTERS,
    Prelude,
    Property,
    Rules,
    Shared,
    Spelling,
    Texts,
    listed,
    spell_text,
)
from kbnf_core.languages.json_schema.value_sets import (
    STEPS,
    Length,
    Restricted,
    compiled_pattern,
)
from kbnf_core.lower.facts import analyse, nullable_names, nullable_parts, without_empty
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import NOWHERE

STEP = 2
"""Columns of a level."""

MOST_COLUMNS = 64
"""The greatest column."""

LONGEST = 512
"""Characters of the longest plain string where a schema bounds its length."""

LINE, COLON, DASH, GAP = (
    ir.Call(f"<{name}>", NOWHERE) for name in ("line", "colon", "dash", "gap")
)
MARKS: Mapping[str, Node] = {
    LINE.nonterminal: text(" "),
    COLON.nonterminal: EMPTY,
    DASH.nonterminal: text("-"),
    GAP.nonterminal: EMPTY,
}

END, KEY_END = "\n", ":"
"""The texts that end a scalar, and a key."""

_SPECIAL: CodePoints = ((0x7F, 0x9F), (0x2028, 0x2029), (0xFEFF, 0xFEFF), (0xFFFE, 0xFFFF))
"""Characters that JSON has as themselves, and that YAML breaks lines at or does not print."""


def _solid(others: str) -> str:
    """Return the regular expression of a character: no blank or control, and not of ``others``."""
    left_out = union(((0, 0x20), *_SPECIAL), from_text(others))
    return print_characters(difference(ANY, left_out))


_INDICATORS = ",[]{}#&*!|>'\"%@`-?:"
_AFTER = rf"(?:{_solid(':')}|:+{_solid(':')})"
"""One character in a word, or colons and the character after them."""
_WORD = rf"(?:{_solid('#:')}|:+{_solid(':')}){_AFTER}*"
_PLAIN = rf"{_solid(f'{_INDICATORS}0123456789+.~=<')}{_AFTER}*(?: +{_WORD})*"
"""Plain scalars of one line that begin with a letter, or a sign without a meaning there."""

_WORDS = "[yYnN]|[yY]es|YES|[nN]o|NO|[tT]rue|TRUE|[fF]alse|FALSE|[oO]n|ON|[oO]ff|OFF|[nN]ull|NULL"
"""Those that YAML 1.1 or 1.2 reads as something else than a string."""

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+(?:[eE][-+][0-9]+)?)?")
_ESCAPES = {code: f"\\u{code:04x}" for a, b in _SPECIAL for code in range(a, b + 1)}


@cache
def safe_strings() -> Dfa:
    """Return the strings that may be plain."""
    plain, words = compiled_pattern(_PLAIN).dfa, compiled_pattern(_WORDS).dfa
    assert plain is not None  # noqa: S101 - of a constant
    assert words is not None  # noqa: S101 - of a constant
    return operations.difference(plain, words)


def is_safe(value: str) -> bool:
    """Return whether a string may be plain."""
    return safe_strings().accepts(value.encode("utf-8", "surrogatepass"))


@dataclass(slots=True, eq=False, repr=False)
class Block(Notation):
    """The inside of a collection, whose text is ``empty`` where that is the empty word."""

    empty: str


@dataclass(frozen=True)
class _Spelling(Spelling):
    """The spelling of strings in double quotes; listed ones are plain where that is safe."""

    def listed(self, value: str) -> str | None:
        return value if is_safe(value) else self.text(value)

    def key(self, value: str) -> str:
        written = value if is_safe(value) else spell_text(value).translate(_ESCAPES)
        return f"{written}{KEY_END}"


class BlockShared(Shared):
    """The shared rules of block YAML; those with marks are laid out with the others."""

    before_scalar, before_item, ends = GAP, DASH, (END, KEY_END)

    def __init__(self, options: Options, prefix: str, has_whole_fractions: bool) -> None:
        super().__init__(options, prefix, has_whole_fractions)
        self.gap, self.comma, self.colon = EMPTY, LINE, COLON
        quoted, calls = self.rule("string"), self.calls
        scalars = (calls["number"], calls["boolean"], text("null"))
        strings = {
            name: alternation([self._plain(end), sequence(quoted, text(end))])
            for name, end in (("string", END), ("other_name", KEY_END))
        }
        self._rules |= {
            **strings,
            "value": alternation(
                [
                    calls["object"],
                    calls["array"],
                    self.string(calls["string"]),
                    *map(self.scalar, scalars),
                ]
            ),
            "object": _block("{}", listed(calls["member"], LINE, 0, None)),
            "array": _block("[]", listed(self.item(calls["value"]), LINE, 0, None)),
            "member": sequence(calls["other_name"], COLON, calls["value"]),
            **MARKS,
        }

    def _plain(self, end: str) -> Node:
        plain = operations.concatenate(safe_strings(), operations.literal(end.encode()))
        return ir.Regular(plain, NOWHERE, Texts("plain"))

    def _spelling(self, options: Options) -> Spelling:
        del options
        return _Spelling(LETTERS, also=_SPECIAL)

    def _behind(self, fraction: str, exponent: str) -> str:
        signed = exponent.replace("[+-]?", "[+-]").replace(r"\+?", r"\+")
        return rf"(?:\.{fraction}(?:{signed})?)?"

    def enclosed(self, opening: str, closing: str, content: Node, gap: Node) -> Node:
        """Return the inside of a collection, marked as one."""
        del gap
        return _block(opening + closing, content)

    def takes_number(self, written: str) -> bool:
        """Return whether the text of a number is one in YAML, too."""
        return _NUMBER.fullmatch(written) is not None

    def plain(self, part: Restricted, budget: Budget) -> Node | None:
        """Return the strings of a set that may be plain; None where there are none, or too many.

        Where the set has a bound on lengths they have at most ``LONGEST`` characters.
        """
        lengths = [atom for atom, wanted in part.literals if wanted and isinstance(atom, Length)]
        others = tuple(each for each in part.literals if each[0] not in lengths)
        found = safe_strings()
        try:
            if others:
                found = operations.intersect(Restricted(part.kind, others).dfa(budget), found)
            for each in lengths:
                if each.low > LONGEST:
                    return None
                few = Length(each.low, None if each.high is None else min(each.high, LONGEST))
                found = operations.intersect(found, few.dfa(), budget=budget)
        except LimitError:
            return None
        return None if found.is_empty else ir.Regular(found, NOWHERE, Texts("plain"))


def _block(empty: str, content: Node) -> Node:
    return ir.Sequence((content,), NOWHERE, Block(empty))


block_rules = lru_cache(maxsize=16)(BlockShared)
"""A process keeps those of 16 options, as it does of JSON."""


class _Copy(NamedTuple):
    """A rule in a column and at the place of a value: after one of ``COLON``, ``DASH`` or none.

    None where the rule does not depend on it.
    """

    rule: str
    column: int | None
    mark: str | None


_At = tuple[Node, int, str]
"""An expression, the column of the lines around it, and the mark before it, if it is a value."""

_START = ""
NOTHING: Node = ir.Choice((), NOWHERE)
_PLACES = (COLON.nonterminal, DASH.nonterminal)


class _Layout:
    """Makes the copies of rules that a document needs.

    ``is_cut`` says whether some collection has no text, as it is too deep.
    """

    def __init__(
        self, rules: Mapping[str, Node], shared: Container[str], fresh: Callable[[str], str]
    ) -> None:
        self._rules = {**rules, **MARKS}
        self._shared = shared
        self._fresh = fresh
        self._names: dict[_Copy, str] = {}
        self._queue: list[_Copy] = []
        self._taken: set[str] = set()
        # The content of a collection may be empty, which is printed apart (``{}``), so rules in it
        # have copies without the empty word: their names by rule, and the rules by these names.
        self._filled: dict[str, str] = {}
        self._whole: dict[str, str] = {}
        self._contents: dict[int, Node | None] = {}
        self._nullables: dict[int, dict[int, bool]] = {}
        self.is_cut = False
        callers: dict[str, set[str]] = {}
        for name, body in self._rules.items():
            for each in ir.calls(body):
                callers.setdefault(each.nonterminal, set()).add(name)
        # Those that call a mark or have a collection, themselves or by others.
        blocks = {name for name, body in self._rules.items() if _has_block(body)}
        self._with_columns = reachable({LINE.nonterminal, *blocks}, callers)
        self._with_places = reachable({GAP.nonterminal, *blocks}, callers)

    def is_marked(self, name: str) -> bool:
        """Return whether a rule has marks, or is one."""
        return name in MARKS or name in self._with_columns or name in self._with_places

    @cached_property
    def _nullable(self) -> set[str]:
        return nullable_names(self._rules)

    def copies(self, start: str) -> Iterator[tuple[str, str, Node]]:
        """Yield the name of each rule that ``start`` needs, what it is a copy of, and its body."""
        self._name(start, 0, _START)
        for copy in self._queue:
            whole = self._whole.get(copy.rule)
            root = self._rules[copy.rule] if whole is None else self._some(self._rules[whole])
            at = (root or NOTHING, copy.column or 0, copy.mark or _START)
            body = traversal.fold(at, self._inside, self._laid_out)
            yield self._names[copy], whole or copy.rule, body

    def _name(self, rule: str, column: int, mark: str) -> str:
        whole = self._whole.get(rule, rule)
        has_column, has_place = whole in self._with_columns, whole in self._with_places
        if not (has_column or has_place) and rule in self._shared:
            return rule
        copy = _Copy(rule, column if has_column else None, mark if has_place else None)
        name = self._names.get(copy)
        if name is None:
            name = self._fresh(rule) if rule in self._taken else rule
            self._taken.add(rule)
            self._names[copy] = name
            self._queue.append(copy)
        return name

    def _inside(self, at: _At) -> Sequence[_At]:
        """Return the parts of an expression with their places."""
        node, column, mark = at
        if not isinstance(node, ir.Sequence):
            return [(part, column, mark) for part in ir.children(node)]
        if isinstance(node.notation, Block):
            content, inner = self._filled_content(node.parts[0]), _inner(column, mark)
            return [] if content is None or inner > MOST_COLUMNS else [(content, inner, _START)]
        found: list[_At] = []
        for part in node.parts:
            found.append((part, column, mark))
            mark = _START
            if isinstance(part, ir.Call) and part.nonterminal in _PLACES:
                mark = part.nonterminal
        return found

    def _laid_out(self, at: _At, parts: list[Node]) -> Node:
        node, column, mark = at
        match node:
            case ir.Sequence(notation=Block(empty)):
                return self._collection(node.parts[0], empty, at, parts)
            case ir.Sequence(notation=Property() as member):
                member = replace(member, column=column)
                return replace(node, parts=tuple(parts), notation=member)
            case ir.Sequence(notation=None):
                return sequence(*parts)
            case ir.Call(name) if name == LINE.nonterminal:
                return text(" " * column)
            case ir.Call(name) if name == GAP.nonterminal:
                return text(" ") if mark else EMPTY
            case ir.Call(name) if name in MARKS:
                return MARKS[name]
            case ir.Call(name):
                return call(self._name(name, column, mark))
            case _:
                return ir.rebuild(node, parts)

    def _collection(self, content: Node, empty: str, at: _At, parts: list[Node]) -> Node:
        """Return a collection: its empty text, or what opens it and its content."""
        _, column, mark = at
        forms: list[Node] = []
        if self._is_nullable(content):
            forms.append(text(f" {empty}{END}" if mark else f"{empty}{END}"))
        if parts:
            in_a_line = "\n" + " " * _inner(column, mark)
            opening = {_START: "", DASH.nonterminal: " "}.get(mark, in_a_line)
            forms.append(sequence(text(opening), *parts))
        self.is_cut |= not forms and _inner(column, mark) > MOST_COLUMNS
        return alternation(forms) if forms else NOTHING

    def _is_nullable(self, node: Node) -> bool:
        return self._where_nullable(node)[id(node)]

    def _filled_content(self, content: Node) -> Node | None:
        """Return the content of a collection that is not empty, made once for all columns."""
        if id(content) not in self._contents:
            self._contents[id(content)] = self._some(content)
        return self._contents[id(content)]

    def _where_nullable(self, root: Node) -> dict[int, bool]:
        """Return by identity which parts of an expression have the empty word, for all columns."""
        known = self._nullables.get(id(root))
        if known is None:
            known = self._nullables[id(root)] = nullable_parts(root, self._nullable)
        return known

    def _some(self, root: Node) -> Node | None:
        """Return an expression without the empty word; None for no other."""
        return without_empty(root, self._where_nullable(root), self._filled_rule)

    def _filled_rule(self, name: str) -> str:
        """Return the name of the rule of the texts of another one but the empty one."""
        known = self._filled.get(name)
        if known is None:
            known = self._filled[name] = self._fresh(name)
            self._whole[known] = name
        return known


def _inner(column: int, mark: str) -> int:
    """Return the column of the content of a collection."""
    return column + STEP if mark else column


def _has_block(body: Node) -> bool:
    return any(
        isinstance(node, ir.Sequence) and isinstance(node.notation, Block)
        for node in ir.postorder(body)
    )


def lay_out(start: str, rules: Rules, prelude: Prelude) -> None:
    """Replace the rules that ``start`` needs by their copies; shared ones stay without marks.

    Raises ProblemError beyond the limit of rules.
    """
    shared = prelude.rules
    layout, owners = _Layout({**rules, **shared}, shared, rules.fresh), dict(rules.owners)
    rules.clear()
    for name, rule, body in layout.copies(start):
        rules.budget.spend(STEPS)
        rules.copies[name] = rule
        rules.owner = owners.get(rule, ANYTHING)
        rules.add(name, body)
    prelude.rules = {name: body for name, body in shared.items() if not layout.is_marked(name)}
    if layout.is_cut:
        facts = analyse(ir.Grammar(start, {**rules, **prelude.rules})).facts
        if not facts[start].productive:
            raise unsupported(f"a value of this has more than {MOST_COLUMNS // STEP} levels", "")
