"""Short names for making KBNF syntax trees, whose spans are set later, and rules of automata.

An automaton over expressions becomes right-linear rules, one for each state that is reached twice.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar

from kbnf_core import ir
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.traversal import fold
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.languages.json_schema.problems import too_large, unsupported
from kbnf_core.languages.json_schema.shipped_patterns import compiled_pattern
from kbnf_core.lower.translate import meaning_of
from kbnf_core.text.budget import Budget
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import NOWHERE, Source, Span

Form = tree.Expression
EMPTY = tree.Sequence((), NOWHERE)
"""The empty word; the other functions leave it out, and rules have it as an empty terminal."""


def text(value: str) -> Form:
    """Return exactly this text; none for the empty one."""
    return tree.Terminal(_text(value), NOWHERE) if value else EMPTY


def regex(pattern: str) -> Form:
    """Return ``#'pattern'``, or ``#r'pattern'`` for one with escapes of its own."""
    return tree.Pattern(tree.PatternKind.REGEX, _text(pattern), NOWHERE, "\\" in pattern)


@dataclass(slots=True, eq=False, repr=False)
class Regular(tree.Pattern):
    """A regular part as its automaton, and how it is written where somebody reads it.

    ``notation`` is given the ``write_scalars.Notation`` that is asked, and returns the form.
    """

    notation: Callable[[Any], Form] = field(kw_only=True)


def regular(dfa: Dfa, notation: Callable[[Any], Form]) -> Form:
    """Return the texts of an automaton over bytes."""
    return Regular(tree.PatternKind.REGEX, _text(""), NOWHERE, dfa=dfa, notation=notation)


def call(name: str) -> Form:
    """Return a nonterminal."""
    return tree.Reference(tree.Name(name, NOWHERE), NOWHERE)


def sequence(*parts: Form) -> Form:
    """Return the sequence of the parts; adjacent texts are joined."""
    items: list[Form] = []
    for part in parts:
        held = part.items if isinstance(part, tree.Sequence) else (part,)
        if items and held:
            # Those inside of a sequence are joined.
            last, first = items[-1], held[0]
            if isinstance(last, tree.Terminal) and isinstance(first, tree.Terminal):
                items[-1] = text(last.text.value + first.text.value)
                held = held[1:]
        items.extend(held)
    if not items:
        return EMPTY
    return items[0] if len(items) == 1 else tree.Sequence(tuple(items), NOWHERE)


def alternation(parts: Iterable[Form]) -> Form:
    """Return the alternation of one or more parts; the empty one makes the others optional."""
    branches: list[Form] = []
    nullable = False
    for part in parts:
        if part is EMPTY:
            nullable = True
        else:
            branches.extend(part.branches if isinstance(part, tree.Alternation) else (part,))
    if not branches:
        return EMPTY
    whole = branches[0] if len(branches) == 1 else tree.Alternation(tuple(branches), NOWHERE)
    return optional(whole) if nullable else whole


def distinct(parts: Sequence[Form]) -> Iterable[Form]:
    """Return parts without those that are written like another one."""
    if len(parts) < 2:
        return parts
    found: dict[Hashable, Form] = {}
    for part in parts:
        is_shown = not any(isinstance(each, Regular) for each in tree.postorder(part))
        found.setdefault(print_expression(part) if is_shown else id(part), part)
    return found.values()


def optional(part: Form) -> Form:
    """Return the part or nothing."""
    return repeated(part, 0, 1)


def repeated(part: Form, low: int, high: int | None) -> Form:
    """Return ``low`` to ``high`` times the part."""
    if part is EMPTY or high == 0:
        return EMPTY
    if (low, high) == (1, 1):
        return part
    return tree.Repetition(part, low, high, NOWHERE, NOWHERE)


MOST = DEFAULT_LIMITS.repetition
"""The largest count that a grammar may have."""


def within_counts(body: Form, low: int, high: int | None) -> Form:
    """Return ``low`` to ``high`` times ``body``, no count being above ``MOST``."""
    if max(low, high or 0) <= MOST:
        return repeated(body, low, high)
    row = repeated(body, MOST, MOST)
    rows, rest = divmod(low, MOST)
    least = sequence(repeated(row, rows, rows), repeated(body, rest, rest))
    if high is None:
        return sequence(least, repeated(body, 0, None))
    rows, rest = divmod(high - low, MOST)
    # Fewer rows than fit, and then at most what is left.
    last = repeated(body, 0, MOST)
    more = sequence(repeated(row, 0, rows - 1), last) if rows else EMPTY
    return sequence(least, more, repeated(body, 0, rest))


def placed(root: Form, span: Span) -> Form:
    """Return a form whose parts without a place are at ``span``; one that is a call always is."""

    def open_parts(part: Form) -> Sequence[Form]:
        return tree.children(part) if part.span == NOWHERE else ()

    def one(part: Form, parts: list[Form]) -> Form:
        is_call = part is root and isinstance(part, tree.Reference)
        if part is EMPTY or (part.span != NOWHERE and not is_call):
            return part
        match part:
            case tree.Sequence():
                return tree.Sequence(tuple(parts), span)
            case tree.Alternation():
                return tree.Alternation(tuple(parts), span)
            case tree.Repetition(_, low, high):
                return tree.Repetition(parts[0], low, high, span, span)
            case _:
                return replace(part, span=span)

    return fold(root, open_parts, one)


def definition(name: str, body: Form, span: Span = NOWHERE) -> tree.Definition:
    """Return ``name ::= body;``."""
    whole = tree.Terminal(_text(""), span) if body is EMPTY else body
    return tree.Definition(tree.Name(name, span), whole, span)


def document(definitions: Iterable[tree.Definition]) -> tree.Document:
    """Return a document of these definitions."""
    return tree.Document(Source(""), tuple(definitions), ())


def meaning(root: Form, budget: Budget) -> ir.Node:
    """Return what a form means. Raises ProblemError for a regular expression that is too large."""

    def leaf(node: tree.Leaf) -> ir.Node:
        match node:
            case tree.Reference(name):
                return ir.Call(name.value, NOWHERE)
            case tree.Terminal(text):
                return ir.Literal(text.value.encode(), NOWHERE)
            case tree.Pattern(dfa=dfa) if dfa is not None:
                return ir.Regular(dfa, NOWHERE)
            case tree.Pattern(text=text):
                compiled = compiled_pattern(text.value)
                budget.spend(compiled.work)
                if compiled.dfa is None:
                    raise unsupported(compiled.problems[0].message, "")
                return ir.Regular(compiled.dfa, NOWHERE)
            case _:
                raise TypeError(f"a schema has no {type(node).__name__}")

    return meaning_of(root, leaf, frozenset(), budget)


def _text(value: str) -> tree.Text:
    return tree.Text(value, NOWHERE, ())


S = TypeVar("S", bound=Hashable)


class Step(NamedTuple, Generic[S]):
    """What a state can do: end here, or read a form and be in the next state."""

    accepting: bool
    edges: Sequence[tuple[Form, S]]


EDGE = 50
"""What an edge is counted as: it is followed, and its form is made, twice."""


class Rules:
    """Where rules go: ``fresh`` takes a hint for a name and returns the name."""

    def __init__(
        self, fresh: Callable[[str], str], add: Callable[[str, Form], None], budget: Budget
    ) -> None:
        self.budget = budget
        self.fresh = fresh
        self.add = add


def write_linear(
    start: S, step: Callable[[S], Step[S]], rules: Rules, hint: str, most: int
) -> Form | None:
    """Return a form for what an automaton accepts, its other states being rules; None for nothing.

    Raises ProblemError where it has more than ``most`` states.
    """
    steps = {start: step(start)}
    order = [start]
    for state in order:
        rules.budget.spend(EDGE * (1 + len(steps[state].edges)))
        for _, after in steps[state].edges:
            if after not in steps:
                steps[after] = step(after)
                order.append(after)
        if len(order) > most:
            raise too_large("states of a counted value", most, "steps")
    live = _live(steps)
    if start not in live:
        return None
    again = any(after == start for state in live for _, after in steps[state].edges)
    names: dict[S, str] = {}
    for state in order:
        ends = not any(after in live for _, after in steps[state].edges)
        if state in live and not ends and (state != start or again):
            names[state] = rules.fresh(hint)
    forms = {state: call(names[state]) if state in names else EMPTY for state in live}
    for state, name in names.items():
        rules.add(name, _body(steps[state], forms, live))
    return forms[start] if again else _body(steps[start], forms, live)


def _body(step: Step[S], forms: dict[S, Form], live: set[S]) -> Form:
    """Return the edges of a state; those to one target are together."""
    by_target: dict[S, list[Form]] = {}
    for form, after in step.edges:
        if after in live:
            by_target.setdefault(after, []).append(form)
    branches = [
        sequence(alternation(distinct(read)), forms[after]) for after, read in by_target.items()
    ]
    return alternation([*branches, EMPTY] if step.accepting else branches)


def _live(steps: dict[S, Step[S]]) -> set[S]:
    """Return the states from which an accepting one is reached."""
    sources: dict[S, list[S]] = {}
    for state, step in steps.items():
        for _, after in step.edges:
            sources.setdefault(after, []).append(state)
    live = {state for state, step in steps.items() if step.accepting}
    queue = list(live)
    for state in queue:
        for source in sources.get(state, ()):
            if source not in live:
                live.add(source)
                queue.append(source)
    return live
