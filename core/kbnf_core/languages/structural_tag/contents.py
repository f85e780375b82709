"""Contents of the formats of a structural tag: grammars, schemas and free text, as rules.

*Rules* are those of the IR that are run, with names for people. Those of a schema or a grammar are
a ``RuleSet``, from which ``tree.py`` makes the tree that people read. A name that is in use for
another rule is replaced, also in the rules that call it.

*Free text* is what ``any_text`` and its like allow, up to the strings that end it: an automaton of
the texts in which some strings occur nowhere, ``except!`` or ``#ex`` of KBNF. Where a *trigger*
hands over to a tag, the text up to the trigger's first occurrence is free text and then the
trigger, unless some string may end inside of the trigger: then the text's end is not where the
trigger begins, and an automaton says which texts lead up to it.

*Arguments* in XML and other notations write strings, objects and other values differently. So in
their schemas references are followed, and alternatives taken apart, until each is one of a kind.

Tests: tests/unit/languages/test_tag_rules.py
"""

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from kbnf_core import ir
from kbnf_core.automata import operations
from kbnf_core.automata.avoid import avoid_literals
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.regex.compile import compile_regex, compile_within
from kbnf_core.automata.regex.ecma import to_whole
from kbnf_core.automata.traversal import fold
from kbnf_core.conversion.rewrite import rename
from kbnf_core.frontend import Language, Reading, read_grammar
from kbnf_core.ir.analysis import reachable
from kbnf_core.ir.build import EMPTY, alternation, call, moved, repeated, sequence, text
from kbnf_core.ir.names import HintedNames
from kbnf_core.kbnf.build import Form, definition, escaped
from kbnf_core.kbnf.parsed import Request
from kbnf_core.kbnf.tree import Definition
from kbnf_core.languages.json_schema import (
    Escapes,
    Formats,
    Options,
    Order,
    Whitespace,
    closed_unless_open,
)
from kbnf_core.languages.json_schema.document import SchemaDocument
from kbnf_core.languages.json_schema.keywords import (
    NARROWED,
    UNRESOLVED,
    Problem,
    ProblemError,
    refers_to_itself,
)
from kbnf_core.languages.json_schema.parse import (
    Outcome,
    checked,
    helps_of,
    raw_strings,
    rules_to_read,
    rules_to_run,
)
from kbnf_core.languages.json_schema.rules import NAMES, gap_of
from kbnf_core.languages.json_schema.type_keywords import formats_of
from kbnf_core.languages.json_schema.writer import Writer
from kbnf_core.languages.structural_tag.read import IN_CONTENT, UNSUPPORTED, TagReport
from kbnf_core.lower.translate import translate
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Severity
from kbnf_core.text.errors import LimitError
from kbnf_core.text.json_text import escape
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import NOWHERE, Source

SPACE = r"[ \t\n\r]"
ANY_CHARACTER = "(?s:.)"
START = "start"

MOST_BLANKS = 1_024
"""Blanks of a gap that are counted, at most."""


def options_in(fields: Mapping[str, Any], options: Options) -> Options:
    """Return the options for a ``json_schema`` with settings of its own: explicit ones win.

    Objects are closed, except in an answer that is not a call of a tool.
    """
    if fields.get("style") != "call" or fields["tool"] is not None:
        options = closed_unless_open(options)
    most = fields["max_whitespace_cnt"]
    if most is not None and options.whitespace is None and options.whitespace_pattern is None:
        gap = f"{SPACE}{{0,{min(most, MOST_BLANKS)}}}"
        options = replace(options, whitespace=Whitespace.FLEXIBLE, whitespace_pattern=gap)
    if fields["escapes"] is not None and options.escapes is None:
        options = replace(options, escapes=Escapes(fields["escapes"]))
    return replace(options, order=Order.ANY) if fields["any_order"] else options


# Free text


@dataclass(slots=True, eq=False, repr=False)
class Avoiding(ir.Notation):
    """Text without some words; of at most ``most`` bytes, if that is not 0.

    Then ``stop`` is the name of a rule of the words.
    """

    words: tuple[str, ...]
    most: int = 0
    stop: str = ""


def is_clean(trigger: str, words: Iterable[str]) -> bool:
    """Return whether none of ``words`` can end inside of ``trigger``, or together with it."""
    ends = [trigger[:length] for length in range(1, len(trigger))]
    return not any(
        any(end.endswith(word) or word.endswith(end) for end in ends)
        or (word != trigger and (word.endswith(trigger) or trigger.endswith(word)))
        for word in words
    )


def in_tokens(node: ir.Node, markers: Mapping[bytes, ir.TokenTerminal]) -> ir.Node:
    """Return an expression in whose texts each marker is a token."""
    if not markers:
        return node
    # Of alternatives Python takes the first that matches, and one marker may begin another.
    longest = sorted(markers, key=len, reverse=True)
    marker = re.compile(b"(" + b"|".join(map(re.escape, longest)) + b")")

    def one(leaf: ir.Node, operands: list[ir.Node]) -> ir.Node:
        if not isinstance(leaf, ir.Literal):
            return ir.rebuild(leaf, operands)
        result = [run for run in marker.split(leaf.data) if run]
        return sequence(
            *(
                ir.Token(markers[run], leaf.span) if run in markers else ir.Literal(run, leaf.span)
                for run in result
            )
        )

    return fold(node, ir.children, one)


def up_to(trigger: str, words: Sequence[str]) -> ir.Node:
    """Return the texts that end with ``trigger`` before any of ``words`` occurs in them.

    Of words that end at one place the longest counts. Raises ``LimitError`` where the automaton
    grows too large.
    """
    result = operations.intersect(
        operations.shortest_matches(_ending_in(words)), _ending_in([trigger])
    )
    longer = [word for word in words if word != trigger and word.endswith(trigger)]
    if longer:
        result = operations.difference(result, _ending_in(longer))
    return ir.Regular(result, NOWHERE)


def _ending_in(words: Sequence[str]) -> Dfa:
    return with_automaton("(?s:.)*(?:" + "|".join(map(escaped, words)) + ")")


def with_automaton(pattern: str) -> Dfa:
    """Return the automaton of a pattern. Raises ``LimitError``."""
    result = compile_regex(pattern).dfa
    if result is None:
        raise LimitError("states", 0)
    return result


def _containing(words: Iterable[str]) -> Dfa | None:
    return compile_regex(f"(?s:.)*(?:{'|'.join(map(escaped, words))})(?s:.)*").dfa


def without(body: ir.Node, words: Iterable[str]) -> ir.Node:
    """Return an expression whose automata of strings of JSON accept none with ``words`` in it."""
    avoided = _containing(words)

    def made(node: ir.Node, operands: list[ir.Node]) -> ir.Node:
        if not isinstance(node, ir.Regular) or avoided is None or not _is_of_strings(node.dfa):
            return ir.rebuild(node, operands)
        # A difference would have another identity, by which equal rules are found.
        if operations.intersect(node.dfa, avoided).is_empty:
            return node
        return ir.Regular(operations.difference(node.dfa, avoided), node.span)

    return fold(body, ir.children, made)


def _is_of_strings(dfa: Dfa) -> bool:
    """Return whether all texts begin with a quote, as no other value does."""
    other = compile_regex('[^"](?s:.)*').dfa
    return other is not None and operations.intersect(dfa, other).is_empty


def _has_strings_inside(body: ir.Node) -> bool:
    """Return whether a string has no automaton, as where its characters are counted."""
    return any(isinstance(node, ir.Literal) and node.data == b'"' for node in ir.postorder(body))


_OF_STRINGS = frozenset({"type", "pattern", "format", "minLength", "maxLength"})


class ReadableRules(NamedTuple):
    """The rules of a schema or a grammar as people read them; ``start`` is the first to call.

    ``names`` are those of the rules that are run, by the names in ``definitions``.
    """

    start: str
    definitions: Sequence[Definition]
    names: Mapping[str, str]


ToTree: TypeAlias = Callable[[ir.Node], Form]
"""Writes an expression as a tree."""


class RuleSet(NamedTuple):
    """A rule of a tag, or the rules of a schema or a grammar inside of it.

    ``rules`` are names and bodies; the first is the one that the tag calls. ``pointer`` is that of
    the value they are made of. ``read``, of a schema or a grammar, returns the same rules as people
    read them. It raises ProblemError.
    """

    rules: Sequence[tuple[str, ir.Node]]
    pointer: str
    read: Callable[[ToTree], ReadableRules] | None = None


class Contents:
    """Makes rules of the contents of formats; ``pointer`` is the pointer of the current one."""

    def __init__(self, names: HintedNames, report: TagReport, limits: Limits) -> None:
        self.names = names
        self.report = report
        self.pointer = ""
        self.markers: Mapping[bytes, ir.TokenTerminal] = {}
        """Texts of these rules that are one token each."""
        self._limits = limits
        self._budget = Budget(limits.work)
        self._groups: dict[Hashable, Mapping[str, ir.Call]] = {}
        self._rule_sets: list[RuleSet] = []
        # By the identity of the bodies of rules, which are kept for that.
        self._cleaned: dict[tuple[int, tuple[str, ...]], tuple[ir.Node, ir.Node]] = {}
        # By their names and the identity of their bodies, which are kept for that.
        self._adopted: dict[tuple[str, int], tuple[str, ir.Node]] = {}

    def take(self, pointer: str) -> list[RuleSet]:
        """Return the rules made since the last time, of the value at ``pointer``."""
        taken, self._rule_sets = self._rule_sets, []
        return [rule_set._replace(pointer=pointer) for rule_set in taken]

    def add(self, name: str, node: ir.Node, *, ahead: bool = False) -> ir.Node:
        """Add a rule whose name is a fresh one, ``ahead`` of the others; return a call of it."""
        rule_set = RuleSet([(name, in_tokens(node, self.markers))], self.pointer)
        self._rule_sets.insert(0 if ahead else len(self._rule_sets), rule_set)
        return call(name)

    def shared(self, hint: str, key: Hashable, make: Callable[[], ir.Node]) -> ir.Call:
        """Return a call of a rule that all callers with the same key share."""
        return self.group((hint, key), (hint,), lambda _: (make(),))[hint]

    def group(
        self,
        key: Hashable,
        names: Sequence[str],
        make: Callable[[Mapping[str, ir.Call]], Sequence[ir.Node]],
    ) -> Mapping[str, ir.Call]:
        """Return calls of rules that call each other, which all callers with the same key share."""
        if key not in self._groups:
            calls = {name: ir.Call(self.names.fresh(name), NOWHERE) for name in names}
            self._groups[key] = calls
            for alternative, node in zip(calls.values(), make(calls), strict=True):
                self.add(alternative.nonterminal, node)
        return self._groups[key]

    def schema(
        self,
        document: SchemaDocument,
        options: Options,
        pointer: str,
        hint: str,
        words: Sequence[str] = (),
    ) -> ir.Node:
        """Return the JSON texts that a sound schema allows; nothing where it cannot be used.

        The ``document`` is at ``pointer``. Strings and names in the texts contain none of
        ``words``, but for those that the schema lists, and strings whose number of characters alone
        is bounded.
        """
        try:
            result, outcome = self._of_schema(document, options, pointer, hint, words)
        except ProblemError as error:
            report_problem(self.report, _placed(error.problem, document), pointer)
            return EMPTY
        for problem in outcome.losses:
            loss = _placed(problem, document)
            self.report.loss(pointer + loss.pointer, loss.message, code=loss.code)
        for problem in outcome.notes:
            note = _placed(problem, document)
            self.report.note(pointer + note.pointer, note.message, code=note.code)
        return result

    def _rules_without(
        self, rules: Mapping[str, ir.Node], outcome: Outcome, words: tuple[str, ...]
    ) -> tuple[Mapping[str, ir.Node], Outcome]:
        """Return rules whose automata accept no text with ``words``; equal ones are one."""
        result = {}
        for name, body in rules.items():
            key = id(body), words
            if key not in self._cleaned:
                self._cleaned[key] = body, without(body, words)
            result[name] = self._cleaned[key][1]
        if any(map(_has_strings_inside, rules.values())):
            message = "what strings may not contain whose length alone is bounded is left out"
            outcome = outcome._replace(losses=(*outcome.losses, Problem(IN_CONTENT, message, "")))
        return result, outcome

    def grammar(
        self, source: Source, language: Language, request: Request, pointer: str, hint: str
    ) -> ir.Node:
        """Return the texts of a grammar; nothing where it cannot be used."""
        reading = read_grammar(source, language, request)
        for finding in reading.diagnostics:
            position = finding.source.position(finding.span.start)
            message = f"line {position.line}, column {position.column}: {finding.message}"
            if finding.severity is Severity.ERROR:
                self.report.error(pointer, message, *finding.helps, code=finding.code)
            elif reading.is_loss(finding):
                self.report.loss(pointer, message, *finding.helps, code=finding.code)
        return EMPTY if reading.errors else self._of_grammar(reading, hint)

    def _of_schema(
        self,
        document: SchemaDocument,
        options: Options,
        pointer: str,
        hint: str,
        words: Sequence[str],
    ) -> tuple[ir.Node, Outcome]:
        """Return a call of the rules of a schema, without ``words``. Raises ProblemError.

        Rules that all schemas have are one, and keep their names.
        """
        # A name that no rule of all schemas has.
        start = self.names.fresh(f"{hint}_json" if hint in NAMES else hint)
        rules, outcome, writer = rules_to_run(document, options, start)
        if document.is_whole:
            self.report.written[id(document.value)] = document.value, writer.schemas
        if words:
            rules, outcome = self._rules_without(rules, outcome, tuple(words))
        new, chosen = {start: rules[start]}, dict[str, str]()
        read: Callable[[ToTree], ReadableRules] = (
            partial(_readable_rules, start, rules, chosen)
            if words
            else partial(_readable_schema, writer, pointer, chosen)
        )
        for name, body in rules.items():
            adopted = self._adopted.get((name, id(body)))
            if adopted is None and name != start:
                adopted = name if self.names.take(name) else self.names.fresh(name), body
                self._adopted[name, id(body)] = adopted
                new[name] = body
            if adopted is not None and adopted[0] != name:
                chosen[name] = adopted[0]
        made = [
            (chosen.get(name, name), moved(body, chosen) if chosen else body)
            for name, body in new.items()
        ]
        self._rule_sets.append(RuleSet(made, self.pointer, read))
        return call(start), outcome

    def _of_grammar(self, reading: Reading, hint: str) -> ir.Node:
        """Return a call of the rules of a grammar without errors."""
        grammar = reading.grammar
        if reading.is_endless:
            # What never ends by itself may be a part of what does.
            grammar = translate(reading.document, reading.start, reading.limits).grammar
        assert grammar is not None  # noqa: S101 - there are no errors
        called = {
            name: {callee.nonterminal for callee in ir.calls(body)}
            for name, body in grammar.rules.items()
        }
        reached = reachable([grammar.start], called)
        chosen = {grammar.start: self.names.fresh(hint)}
        for name in called:
            if name in reached and name not in chosen:
                chosen[name] = self.names.fresh(f"{hint}_{name}")
        made = [(new, moved(grammar.rules[name], chosen)) for name, new in chosen.items()]
        readable = ReadableRules(reading.start, reading.document.definitions, chosen)
        self._rule_sets.append(RuleSet(made, self.pointer, lambda _: readable))
        return call(chosen[grammar.start])

    def pattern(self, pattern: str) -> ir.Node:
        """Return the texts of a regular expression; nothing where it cannot be used."""
        compiled = compile_within(self._budget, pattern, self._limits)
        for problem in compiled.problems:
            message = f"in this regular expression: {problem.message}"
            self.report.error(self.pointer, message, code=problem.code)
        return EMPTY if compiled.dfa is None else ir.Regular(compiled.dfa, NOWHERE, pattern)

    def whole_pattern(self, pattern: str, *, dot_all: bool) -> ir.Node:
        """Return the texts of a regular expression of XGrammar's."""
        # By itself first: it cannot close a group that is put around it.
        if compile_within(self._budget, pattern, self._limits).problems:
            return self.pattern(pattern)
        if "|" in pattern:
            pattern = f"(?:{pattern})"
        else:
            pattern = pattern.removeprefix("^")
            anchored = pattern.endswith("$") and not pattern.endswith("\\$")
            pattern = pattern.removesuffix("$") if anchored else pattern
        result = to_whole(f"^{pattern}$")
        return self.pattern(f"(?s:{result})" if dot_all else result)

    def avoiding(self, words: Collection[str]) -> ir.Node:
        """Return nonempty text in which none of ``words`` occurs."""
        if not words:
            return self.pattern(f"{ANY_CHARACTER}+")
        return self._without(Avoiding(tuple(words)))

    def short(self, words: Collection[str], most: int) -> ir.Node:
        """Return nonempty text of at most so many bytes in which none of ``words`` occurs."""
        stop = self.shared("stop", tuple(words), lambda: alternation(map(text, words)))
        return self._without(Avoiding(tuple(words), most, stop.nonterminal))

    def _without(self, notation: Avoiding) -> ir.Node:
        words, most = [word.encode() for word in notation.words], notation.most
        try:
            dfa = avoid_literals(words, most, self._limits)
            free = avoid_literals(words, 0, self._limits) if most else dfa
        except LimitError as error:
            message = f"the text without `{notation.words[0]}` is too large: {error}"
            self.report.error(self.pointer, message[:300], code="E203")
            return EMPTY
        self._budget.spend(dfa.state_count)
        return ir.Regular(dfa, NOWHERE, notation, (free, most) if most else None)

    def argument(self, words: Collection[str]) -> ir.Node:
        """Return the texts of arguments in which none of ``words`` occurs, empty ones too."""
        words = sorted(words)
        plain = self.shared("argument", tuple(words), lambda: self.avoiding(words))
        return repeated(plain, 0, 1)

    def gap(self, options: Options) -> ir.Node:
        """Return the texts allowed between elements, and around values other than texts.

        It is the gap of JSON, and that of printers where JSON has none: templates write line
        breaks.
        """
        pattern = gap_of(options) or gap_of(Options())
        return self.shared("space", pattern, lambda: self.pattern(pattern))

    def other_names(self, pattern: str, listed: Collection[str]) -> ir.Node:
        """Return the names of a pattern but for some, all as they are written."""
        names = compile_within(self._budget, pattern).dfa
        if names is None or not listed:
            return self.pattern(pattern)
        excluded = operations.literals([name.encode() for name in listed])
        return ir.Regular(operations.difference(names, excluded), NOWHERE)

    def character(self) -> ir.Node:
        """Return any character."""
        return self.shared("character", None, lambda: self.pattern(ANY_CHARACTER))

    def strings(
        self,
        schema: Mapping[str, Any],
        options: Options,
        pointer: str,
        words: Sequence[str],
        plain: ir.Node,
    ) -> ir.Node:
        """Return the strings of a schema as they are, without ``words``; ``plain`` are all those.

        Strings whose number of characters alone is bounded may contain a single word.
        """
        low, high = (schema.get(name) for name in ("minLength", "maxLength"))
        is_bounded = low is not None or high is not None
        if is_restricted(schema, options) or (is_bounded and len(words) > 1):
            avoided = _containing(words)
            kept = {name: value for name, value in schema.items() if name in _OF_STRINGS}
            try:
                note = partial(self.report.note, pointer, code=NARROWED)
                result = None if avoided is None else raw_strings(kept, options, avoided, note)
            except ProblemError as error:
                report_problem(self.report, error.problem, pointer)
                return EMPTY
            if result is None:
                return plain
            return alternation(
                self.pattern(string) if isinstance(string, str) else ir.Regular(string, NOWHERE)
                for string in result
            )
        if not is_bounded:
            return plain
        return repeated(self.character(), int(low or 0), None if high is None else int(high))


def _readable_schema(
    writer: Writer, pointer: str, chosen: Mapping[str, str], _: ToTree
) -> ReadableRules:
    try:
        rules = rules_to_read(writer)
    except ProblemError as error:
        problem = _placed(error.problem, writer.schemas.document)
        raise ProblemError(problem._replace(pointer=pointer + problem.pointer)) from None
    return _with_common_names(writer.start, rules, writer.to_read(), chosen)


def _readable_rules(
    start: str, rules: Mapping[str, ir.Node], chosen: Mapping[str, str], body: ToTree
) -> ReadableRules:
    made = [definition(name, body(node)) for name, node in rules.items()]
    return _with_common_names(start, made, rules, chosen)


def _with_common_names(
    start: str, rules: Sequence[Definition], run: Iterable[str], chosen: Mapping[str, str]
) -> ReadableRules:
    """Return rules that are called as in every schema, so that equal schemas are shared.

    ``run`` are the names of the rules that are run, ``chosen`` those that took another one.
    """
    common = {start: START}
    for name in (rule.name.value for rule in rules if rule.name.value != start):
        short = name.removeprefix(f"{start}_")
        common[name] = name if short == START else short
    names = {common[name]: chosen.get(name, name) for name in run if name in common}
    return ReadableRules(START, [rename(rule, common) for rule in rules], names)


# Schemas of arguments

MOST_CASES = 1_000
OF_OBJECTS = frozenset({"type", "properties", "required", "additionalProperties"})
"""Keywords of objects that are read."""

NO_CONSTRAINTS = frozenset(
    {
        "$defs", "definitions", "title", "description", "$schema", "$id", "id", "default",
        "examples", "$comment",
    }
)  # fmt: skip


def is_sound(schema: Any, pointer: str, report: TagReport, options: Options) -> bool:
    """Report the mistakes in the form of a schema; return whether there are none."""
    if id(schema) in report.sound:
        return True
    try:
        _, facts = checked(schema, options)
    except ProblemError as error:
        for problem in error.problems:
            report_problem(report, problem, pointer)
        return False
    report.sound[id(schema)] = schema, facts
    return True


def document_of(schema: Any, report: TagReport, options: Options) -> SchemaDocument:
    """Return the document of a schema, which may have been reported sound."""
    _, facts = report.sound.get(id(schema), (schema, None))
    return SchemaDocument(schema, options, facts)


def _placed(problem: Problem, document: SchemaDocument) -> Problem:
    """Return a problem of the texts of a document; one without a pointer is of its root."""
    return problem if problem.pointer else problem._replace(pointer=document.pointer)


def report_problem(report: TagReport, problem: Problem, pointer: str) -> None:
    """Report a problem of the schema at ``pointer``."""
    report.error(pointer + problem.pointer, problem.message, *helps_of(problem), code=problem.code)


class SchemaContents:
    """Takes apart the schemas of a document, which is sound, at ``pointer``."""

    def __init__(self, root: Any, pointer: str, report: TagReport, options: Options) -> None:
        self.pointer = pointer
        self._document = document_of(root, report, options)
        self._options = replace(options, strict=None)
        self._report = report
        self._memo = {id(root): True}

    def cases(self, schema: Any, pointer: str) -> list[tuple[Any, str]]:
        """Return the schemas one of which a value has, without recursion, with their pointers."""
        waiting = [(schema, pointer)]
        seen = {pointer}
        result = []
        for step, (alternative, where) in enumerate(waiting):
            if step > MOST_CASES:
                self._report.error(pointer, "too many alternatives", code=UNSUPPORTED)
                return []
            inner = list(self._inside(alternative, where))
            if not inner:
                result.append((alternative, where))
            for case in inner:
                # A schema that is one of its own alternatives adds nothing. Those of a list of
                # types share a place.
                if case[1] not in seen or isinstance(alternative.get("type"), list):
                    seen.add(case[1])
                    waiting.append(case)
        if not result:
            report_problem(self._report, refers_to_itself(pointer).problem, "")
        return result

    def followed(self, schema: dict[str, Any], pointer: str) -> tuple[Any, str]:
        """Return the schema that the reference in one leads to, ``False`` for none."""
        target = self._document.target_in(schema)
        if target is None or not isinstance(target.value, dict | bool):
            message = f"`{schema['$ref']}` leads nowhere in this schema"
            self._report.error(f"{pointer}/$ref", message, code=UNRESOLVED)
            return False, f"{pointer}/$ref"
        result, where = target.value, f"{self.pointer}{target.pointer}"
        # A reference may lead to what the meta-schema takes for a plain value.
        if id(result) not in self._memo:
            self._memo[id(result)] = is_sound(result, where, self._report, self._options)
        return (result, where) if self._memo[id(result)] else (False, where)

    def members(
        self, schema: dict[str, Any], pointer: str
    ) -> tuple[dict[str, tuple[Any, str]], frozenset[str]]:
        """Return the properties of an object, and the names of those that must be there."""
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        for name in required:
            if name not in properties:
                where = f"{pointer}/required"
                message = f"`{name}` is required and no property"
                self._report.error(where, message, code=UNSUPPORTED)
        result = {
            name: (member, f"{pointer}/properties/{escape(name)}")
            for name, member in properties.items()
        }
        return result, frozenset(required)

    def refuses(self, schema: dict[str, Any], pointer: str, refused: frozenset[str]) -> bool:
        """Report the keywords that are not ``refused``; return whether there are any."""
        strange = [name for name in schema if name not in refused | NO_CONSTRAINTS]
        for name in strange:
            where = f"{pointer}/{escape(name)}"
            message = f"`{name}` beside arguments in XML is not supported"
            self._report.error(where, message, code=UNSUPPORTED)
        return bool(strange)

    def document_of(self, schema: Any, pointer: str) -> SchemaDocument:
        """Return the document that begins at a schema; its problems are relative to the root's."""
        return self._document.subdocument(schema, pointer.removeprefix(self.pointer))

    def _inside(self, schema: Any, pointer: str) -> Iterator[tuple[Any, str]]:
        """Yield the schemas one of which a value has; nothing where it is a plain one."""
        if not isinstance(schema, dict):
            return
        if "$ref" in schema:
            yield self.followed(schema, pointer)
        elif isinstance(schema.get("type"), list) and not {"const", "enum"} & schema.keys():
            for inner_schema in schema["type"]:
                yield {**schema, "type": inner_schema}, f"{pointer}/type"
        else:
            for keyword in ("anyOf", "oneOf", "allOf"):
                schemas = schema.get(keyword)
                if isinstance(schemas, list) and (keyword != "allOf" or len(schemas) == 1):
                    for index, inner_schema in enumerate(schemas):
                        yield inner_schema, f"{pointer}/{keyword}/{index}"
                    return


def constants(schema: Any) -> list[Any] | None:
    """Return the values that a schema lists; None where it lists none."""
    if isinstance(schema, dict) and "const" in schema:
        return [schema["const"]]
    values = schema.get("enum") if isinstance(schema, dict) else None
    return values if isinstance(values, list) and values else None


def is_restricted(schema: Mapping[str, Any], options: Options) -> bool:
    """Return whether a string has a pattern, or a format that says something."""
    name = schema.get("format")
    formats = formats_of(options.standard, options.formats or Formats.PLAIN)
    has_format = isinstance(name, str) and bool(formats.get(name))
    return "pattern" in schema or (has_format and options.formats is not Formats.ANNOTATION)
