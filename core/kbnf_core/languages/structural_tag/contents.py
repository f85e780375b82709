"""What is inside the formats of a structural tag: grammars, free text, tokens.

*Grammars* are JSON Schemas, EBNF and regular expressions. What several of them have in common, such
as the strings of JSON, is written once: rules are shared where they and all that they call have the
same names and texts.

*Free text* is what ``any_text`` and its like allow, up to the strings that end it. Text in which
some strings occur nowhere is ``except!`` or ``#ex`` of KBNF. Where a *trigger* hands over to a tag,
the text up to the trigger's first occurrence is free text and then the trigger, unless some string
may end inside of the trigger: then the text's end is not where the trigger begins, and an automaton
says which texts lead up to it.

*Tokens* have an id in KBNF, or their name; what excludes tokens needs their ids, and so the
vocabulary where it names them by their texts.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.to_regex import NotTextError, to_regex
from kbnf_core.conversion.rewrite import rename
from kbnf_core.frontend import Language, read_grammar
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.build import (
    EMPTY,
    Form,
    alternation,
    call,
    definition,
    escaped,
    optional,
    regex,
    repeated,
    sequence,
    text,
)
from kbnf_core.kbnf.parsed import Request
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.kbnf.tree import Definition, Reference, postorder
from kbnf_core.languages.json_schema.names import Names
from kbnf_core.languages.json_schema.options import (
    Escapes,
    Options,
    Order,
    Whitespace,
    closed_unless_open,
)
from kbnf_core.languages.json_schema.parse import embed_json_schema, raw_strings
from kbnf_core.languages.json_schema.patterns import to_whole
from kbnf_core.languages.json_schema.prelude import NAMES
from kbnf_core.languages.json_schema.problems import NARROWED, ProblemError
from kbnf_core.languages.structural_tag.formats import Token
from kbnf_core.languages.structural_tag.read import Node, Report
from kbnf_core.languages.structural_tag.schemas import is_restricted, report_problem
from kbnf_core.text.diagnostics import Severity
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import NOWHERE, Source

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary


def avoiding(words: Sequence[str]) -> Form:
    """Return nonempty text in which none of ``words`` occurs."""
    if not words:
        return regex("(?s:.)+")
    if len(words) == 1:
        return tree.Exception_(_terminal(words[0]), 0, NOWHERE)
    pattern = tree.Text("|".join(map(escaped, words)), NOWHERE, ())
    return tree.Pattern(tree.PatternKind.COMPLEMENT, pattern, NOWHERE)


def is_clean(trigger: str, words: Iterable[str]) -> bool:
    """Return whether none of ``words`` can end inside of ``trigger``, or together with it."""
    ends = [trigger[:length] for length in range(1, len(trigger))]
    return not any(
        any(end.endswith(word) or word.endswith(end) for end in ends)
        or (word != trigger and (word.endswith(trigger) or trigger.endswith(word)))
        for word in words
    )


def up_to(trigger: str, words: Sequence[str]) -> Form:
    """Return the texts that end with ``trigger`` before any of ``words`` occurs in them.

    Of words that end at one place the longest counts. Raises ``LimitError`` where the texts have no
    expression of bearable size.
    """
    found = operations.intersect(
        operations.shortest_matches(_ending_in(words)), _ending_in([trigger])
    )
    longer = [word for word in words if word != trigger and word.endswith(trigger)]
    if longer:
        found = operations.difference(found, _ending_in(longer))
    try:
        return regex(to_regex(found))
    except NotTextError:
        raise LimitError("states", 0) from None


def _ending_in(words: Sequence[str]) -> Dfa:
    compiled = compile_regex("(?s:.)*(?:" + "|".join(map(escaped, words)) + ")").dfa
    if compiled is None:
        raise LimitError("states", 0)
    return compiled


def listed(words: Iterable[str]) -> Form:
    """Return any of ``words``."""
    return alternation(map(text, words))


def _terminal(value: str) -> tree.Terminal:
    return tree.Terminal(tree.Text(value, NOWHERE, ()), NOWHERE)


_MOST_TOKENS = 2**32 - 1


class TokenForms:
    """Writes tokens, and what is made of them."""

    def __init__(self, report: Report, limits: Limits, vocabulary: "Vocabulary | None") -> None:
        self._report = report
        self._limits = limits
        self._vocabulary = vocabulary

    def one(self, token: Token, pointer: str) -> Form:
        """Return a token, by its id where that is known."""
        name = self._resolved(token).name
        if isinstance(name, int):
            return tree.TokenSet(((name, name),), False, NOWHERE)
        if self._vocabulary is not None:
            self._report.error(pointer, f"the vocabulary has no token {name!r}")
        return tree.TokenName(tree.Text(name, NOWHERE, ()), NOWHERE)

    def other(self, node: Node, excluded: Iterable[Token], *, around: bool = True) -> Form:
        """Return any token but some, and but the one that ends the tag around it."""
        tokens = [*excluded]
        if around and isinstance(node.ends, Token):
            tokens.append(node.ends)
        ids = set[int]()
        for token in tokens:
            name = self._resolved(token).name
            if isinstance(name, int):
                ids.add(name)
            elif self._vocabulary is not None:
                self._report.error(node.pointer, f"the vocabulary has no token {name!r}")
            else:
                self._report.loss(
                    node.pointer,
                    f"the token {name!r} is excluded by its text, which needs the vocabulary",
                    "give the vocabulary, or the token's id",
                    code="W402",
                )
        if not ids:
            return tree.TokenSet(((0, _MOST_TOKENS),), False, NOWHERE)
        return tree.TokenSet(tuple((each, each) for each in sorted(ids)), True, NOWHERE)

    def any_others(self, node: Node) -> Form:
        """Return the tokens of ``any_tokens``, as many as it says."""
        most = node.fields["max_tokens"]
        highest = self._limits.repetition
        if most is not None and most > highest:
            where = f"{node.pointer}/max_tokens"
            self._report.loss(where, f"at most {highest:,} tokens can be counted")
            most = highest
        return repeated(self.other(node, node.fields["exclude_tokens"]), 0, most)

    def triggered_tags(self, node: Node, tags: Sequence[Form]) -> Form:
        """Return tokens, and the tags that some of them begin."""
        triggers = [self._resolved(each) for each in node.fields["trigger_tokens"]]
        for tag in node.parts:
            begin = tag.fields["begin"]
            where = f"{tag.pointer}/begin"
            if not isinstance(begin, Token):
                self._report.error(where, "a tag that a token triggers begins with a token")
                return EMPTY
            if triggers.count(self._resolved(begin)) != 1:
                self._report.error(where, "a tag begins with just one of the trigger tokens")
                return EMPTY
        one = alternation(tags)
        fields = node.fields
        if fields["at_least_one"] and fields["stop_after_first"]:
            return one
        excluded = (*fields["trigger_tokens"], *fields["exclude_tokens"])
        other = self.other(node, excluded)
        if fields["stop_after_first"]:
            return sequence(repeated(other, 0, None), optional(one))
        rest = repeated(alternation([one, other]), 0, None)
        return sequence(one, rest) if fields["at_least_one"] else rest

    def dispatch(self, node: Node, parts: Sequence[Form]) -> Form:
        """Return tokens, and the parts that some of them lead to."""
        triggers = node.fields["rules"]
        other = self.other(node, (*triggers, *node.fields["exclude_tokens"]), around=False)
        calls = alternation(
            sequence(self.one(each, f"{node.pointer}/rules/{index}/0"), part)
            for index, (each, part) in enumerate(zip(triggers, parts, strict=True))
        )
        if node.fields["loop"]:
            return repeated(alternation([calls, other]), 0, None)
        return sequence(repeated(other, 0, None), optional(calls))

    def _resolved(self, token: Token) -> Token:
        """Return a token by its id, if the vocabulary tells it."""
        if isinstance(token.name, int) or self._vocabulary is None:
            return token
        special = self._vocabulary.special_tokens.get(token.name)
        if special is not None:
            return Token(special)
        ids = self._vocabulary.token_ids(token.name.encode())
        return Token(min(ids)) if ids else token


SPACE = r"[ \t\n\r]"

_MOST_SHARED = 32
"""Rules that a shared rule calls, directly or not, at most."""


MOST_BLANKS = 1_024
"""Blanks of a gap that are counted, at most."""


def options_in(fields: Mapping[str, Any], options: Options) -> Options:
    """Return how a ``json_schema`` with its own settings is read: what is asked for wins.

    Objects are closed, but in an answer that is no call of a tool.
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


_OF_STRINGS = frozenset({"type", "pattern", "format", "minLength", "maxLength"})


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

    def schema(self, schema: Any, options: Options, pointer: str, hint: str) -> Form:
        """Return the JSON texts that a sound schema allows; nothing where it cannot be used."""
        try:
            embedded = embed_json_schema(schema, options)
        except ProblemError as error:
            report_problem(self.report, error.problem, pointer)
            return EMPTY
        self.report.written[id(schema)] = schema, embedded.schemas
        for loss in embedded.outcome.losses:
            self.report.loss(pointer + loss.pointer, loss.message, code=loss.code)
        for note in embedded.outcome.notes:
            self.report.note(pointer + note.pointer, note.message, code=note.code)
        return self.embed(embedded.definitions, embedded.start, hint)

    def strings(
        self,
        schema: Mapping[str, Any],
        options: Options,
        pointer: str,
        words: Sequence[str],
        plain: Form,
    ) -> Form:
        """Return the strings of a schema as they are, without ``words``; ``plain`` are all those.

        Strings whose number of characters alone is bounded may contain the words.
        """
        if is_restricted(schema, options):
            avoided = compile_regex(f"(?s:.)*(?:{'|'.join(map(escaped, words))})(?s:.)*").dfa
            kept = {name: value for name, value in schema.items() if name in _OF_STRINGS}
            try:
                note = partial(self.report.note, pointer, code=NARROWED)
                found = None if avoided is None else raw_strings(kept, options, avoided, note)
            except ProblemError as error:
                report_problem(self.report, error.problem, pointer)
                return EMPTY
            return plain if found is None else alternation(map(regex, found))
        low, high = (schema.get(name) for name in ("minLength", "maxLength"))
        if low is None and high is None:
            return plain
        if len(words) > 1:
            self.report.loss(pointer, "the length of a string is not bounded beside `excludes`")
            return plain
        character = self.shared("character", regex("(?s:.)"))
        return repeated(character, int(low or 0), None if high is None else int(high))

    def grammar(
        self, source: Source, language: Language, request: Request, pointer: str, hint: str
    ) -> Form:
        """Return the texts of a grammar; nothing where it cannot be used."""
        reading = read_grammar(source, language, request)
        for finding in reading.diagnostics:
            place = finding.source.position(finding.span.start)
            told = f"line {place.line}, column {place.column}: {finding.message}"
            if finding.severity is Severity.ERROR:
                self.report.error(pointer, told, *finding.helps, code=finding.code)
            elif reading.is_loss(finding):
                self.report.loss(pointer, told, *finding.helps, code=finding.code)
        if reading.errors:
            return EMPTY
        return self.embed(reading.document.definitions, reading.start, hint)

    def shared(self, hint: str, body: Form) -> Form:
        """Return a call of a rule that all who ask for the same share."""
        return call(self.shared_name(hint, body))

    def shared_name(self, hint: str, body: Form) -> str:
        """Return the name of such a rule."""
        shape = frozenset([("shared", hint), ("", print_expression(body))])
        if shape not in self._known:
            self._known[shape] = self.names.fresh(hint)
            self._rules.append(definition(self._known[shape], body))
        return self._known[shape]

    def regex(self, pattern: str, pointer: str, *, dot_all: bool) -> str:
        """Return a regular expression of XGrammar's as ours."""
        # By itself first: it cannot close a group that is put around it.
        problems = compile_regex(pattern, self._limits).problems
        if "|" in pattern:
            pattern = f"(?:{pattern})"
        else:
            pattern = pattern.removeprefix("^")
            anchored = pattern.endswith("$") and not pattern.endswith("\\$")
            pattern = pattern.removesuffix("$") if anchored else pattern
        found = to_whole(f"^{pattern}$")
        found = f"(?s:{found})" if dot_all else found
        for problem in problems or compile_regex(found, self._limits).problems:
            message = f"in this regular expression: {problem.message}"
            self.report.error(pointer, message, code=problem.code)
        return found

    def embed(
        self,
        rules: Sequence[Definition],
        start: str,
        hint: str,
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
                    hint if name == start else name if name in common else f"{hint}_{name}"
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
