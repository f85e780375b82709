"""Grammars inside a structural tag: JSON Schemas, EBNF and regular expressions.

What several of them have in common, such as the strings of JSON, is written once: rules are shared
where they and all that they call have the same names and texts.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kbnf_core.automata.regex import compile_regex
from kbnf_core.diagnostics import Severity
from kbnf_core.frontend import read_grammar
from kbnf_core.languages.conversion.rewrite import rename
from kbnf_core.languages.gbnf.language import GBNF
from kbnf_core.languages.json_schema.build_tree import EMPTY, Form, call, definition
from kbnf_core.languages.json_schema.names import Names
from kbnf_core.languages.json_schema.options import Escapes, Options, Order, Standard, Whitespace
from kbnf_core.languages.json_schema.parse import embed_json_schema
from kbnf_core.languages.json_schema.patterns import to_whole
from kbnf_core.languages.json_schema.prelude import NAMES
from kbnf_core.languages.json_schema.problems import ProblemError
from kbnf_core.languages.structural_tag.read import Report
from kbnf_core.languages.structural_tag.schemas import is_sound, report_problem
from kbnf_core.limits import Limits
from kbnf_core.source import Source
from kbnf_core.syntax.printer import print_expression
from kbnf_core.syntax.tree import Definition, Reference, postorder

SPACE = r"[ \t\n\r]"

_MOST_SHARED = 32
"""Rules that a shared rule calls, directly or not, at most."""


def options_of(fields: Mapping[str, Any]) -> Options:
    """Return how XGrammar reads and writes JSON, with the settings of a ``json_schema``."""
    most = fields["max_whitespace_cnt"]
    return Options(
        whitespace=Whitespace.FLEXIBLE,
        whitespace_pattern=None if most is None else f"{SPACE}{{0,{most}}}",
        order=Order.ANY if fields["any_order"] else Order.DECLARED,
        closed=True,
        escapes=Escapes.ANY,
        standard=Standard.LLGUIDANCE,
    )


class Contents:
    """Makes rules of the grammars inside; ``rules`` are those not yet taken."""

    def __init__(self, names: Names, report: Report, limits: Limits) -> None:
        self.names = names
        self.report = report
        self._limits = limits
        self._known: dict[frozenset[tuple[str, str]], str] = {}
        self._rules: list[Definition] = []

    def take(self) -> list[Definition]:
        """Return the rules made since the last time."""
        taken, self._rules = self._rules, []
        return taken

    def add(self, rule: Definition, *, ahead: bool = False) -> Form:
        """Add a rule whose name is a fresh one, ``ahead`` of the others; return a call of it."""
        self._rules.insert(0 if ahead else len(self._rules), rule)
        return call(rule.name.value)

    def schema(self, schema: Any, options: Options, pointer: str, wish: str) -> Form:
        """Return the JSON texts that a schema allows; nothing where it cannot be used."""
        if not is_sound(schema, pointer, self.report):
            return EMPTY
        try:
            embedded = embed_json_schema(schema, options)
        except ProblemError as error:
            report_problem(self.report, error.problem, pointer)
            return EMPTY
        for loss in embedded.losses:
            self.report.loss(pointer + loss.pointer, loss.message, code=loss.code)
        for note in embedded.notes:
            self.report.note(pointer + note.pointer, note.message, code=note.code)
        return self.embed(embedded.definitions, embedded.start, wish)

    def grammar(self, text: str, pointer: str, wish: str) -> Form:
        """Return the texts of an EBNF grammar; nothing where it cannot be used."""
        reading = read_grammar(Source(text), limits=self._limits, language=GBNF)
        for finding in reading.diagnostics:
            place = finding.source.position(finding.span.start)
            told = f"line {place.line}, column {place.column}: {finding.message}"
            if finding.severity is Severity.ERROR:
                self.report.error(pointer, told, *finding.helps, code=finding.code)
            elif reading.is_loss(finding):
                self.report.loss(pointer, told, *finding.helps, code=finding.code)
        if reading.errors:
            return EMPTY
        return self.embed(reading.document.definitions, reading.start, wish)

    def shared(self, wish: str, body: Form) -> Form:
        """Return a call of a rule that all who ask for the same share."""
        return call(self.shared_name(wish, body))

    def shared_name(self, wish: str, body: Form) -> str:
        """Return the name of such a rule."""
        shape = frozenset([("shared", wish), ("", print_expression(body))])
        if shape not in self._known:
            self._known[shape] = self.names.fresh(wish)
            self._rules.append(definition(self._known[shape], body))
        return self._known[shape]

    def regex(self, pattern: str, pointer: str) -> str:
        """Return a regular expression of XGrammar's as ours; ``.`` is any character there."""
        if "|" in pattern:
            pattern = f"(?:{pattern})"
        else:
            pattern = pattern.removeprefix("^")
            anchored = pattern.endswith("$") and not pattern.endswith("\\$")
            pattern = pattern.removesuffix("$") if anchored else pattern
        found = f"(?s:{to_whole(f'^{pattern}$')})"
        for problem in compile_regex(found, self._limits).problems:
            message = f"in this regular expression: {problem.message}"
            self.report.error(pointer, message, code=problem.code)
        return found

    def embed(
        self,
        rules: Sequence[Definition],
        start: str,
        wish: str,
        common: Collection[str] = NAMES,
    ) -> Form:
        """Add rules under names of their own; what is known already is not added again.

        They may call rules that others share. Those with ``common`` names keep them.
        """
        texts: dict[str, list[str]] = {}
        calls: dict[str, set[str]] = {}
        for rule in rules:
            name = rule.name.value
            texts.setdefault(name, []).append(print_expression(rule.body))
            uses = (n.name.value for n in postorder(rule.body) if isinstance(n, Reference))
            calls.setdefault(name, set()).update(uses)
        start = _called(start, rules)
        reached = _reached(start, calls)
        # What is called and not among the rules is shared already, and keeps its name.
        chosen = {name: name for name in reached if name not in calls}
        kept: set[str] = set()
        for name in (start, *calls):
            if name in chosen or name not in reached:
                continue
            shape = _shape(name, texts, calls)
            known = self._known.get(shape) if shape else None
            if known is None:
                kept.add(name)
                known = self.names.fresh(
                    wish if name == start else name if name in common else f"{wish}_{name}"
                )
                if shape:
                    self._known[shape] = known
            chosen[name] = known
        self._rules += [rename(rule, chosen) for rule in rules if rule.name.value in kept]
        return call(chosen[start])


def _called(start: str, rules: Sequence[Definition]) -> str:
    """Return the rule that does what ``start`` does: the one that it calls, if it is no more."""
    bodies = [rule.body for rule in rules if rule.name.value == start]
    first = bodies[0]
    return first.name.value if len(bodies) == 1 and isinstance(first, Reference) else start


def _reached(start: str, calls: Mapping[str, set[str]], most: int | None = None) -> set[str]:
    """Return the rules that ``start`` is made of, and itself; a few more than ``most`` at most."""
    waiting = [start]
    seen = {start}
    while waiting and (most is None or len(seen) <= most):
        new = calls.get(waiting.pop(), set()) - seen
        seen |= new
        waiting += new
    return seen


def _shape(
    name: str, texts: Mapping[str, Sequence[str]], calls: Mapping[str, set[str]]
) -> frozenset[tuple[str, str]] | None:
    """Return the names and texts of all that a rule is made of; None where that is much."""
    seen = _reached(name, calls, _MOST_SHARED)
    if len(seen) > _MOST_SHARED:
        return None
    parts = [(each, text) for each in seen for text in texts.get(each, ())]
    return frozenset([*parts, ("", name)])
