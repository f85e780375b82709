"""LLGuidance's terminals as regular languages, in the syntax of Rust's regular expressions.

Rules with the attributes ``lazy``, ``suffix``, ``stop`` and others are terminals, too.

Tests: tests/unit/languages/lark
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce

from kbnf_core import ir
from kbnf_core.automata import operations
from kbnf_core.automata.algebra import quantifier
from kbnf_core.automata.beginnings import exits
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.regex.compile import compile_regex, compile_within
from kbnf_core.automata.substrings import chunk_runs, substrings
from kbnf_core.conversion.automata import only_text
from kbnf_core.ir import Choice, Repeat
from kbnf_core.kbnf import build, tree
from kbnf_core.kbnf.build import escaped
from kbnf_core.languages.lark.lexer.lookahead import outside
from kbnf_core.languages.lark.reader import tree as lark
from kbnf_core.languages.lark.reader.dialect import Dialect, decode
from kbnf_core.languages.lark.reader.model import LarkTerminal, Lexing, Node, Stopped, lexeme
from kbnf_core.languages.lark.reader.modules import Module, NamedTerminals
from kbnf_core.languages.lark.reader.report import (
    APPROXIMATE,
    INVALID,
    LarkRefusedError,
    Report,
    check_counts,
)
from kbnf_core.text.json_text import NoJsonError, parse_json
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Span

EPSILON = operations.literal(b"")
_EDGES = re.compile(r"\A\^|(?<!\\)\$\Z")
_FLAGS = re.compile(r"\(\?[A-Za-z-]+\)")


@dataclass(frozen=True, slots=True)
class TerminalLanguage:
    """A set of words; ``regex`` writes it, where the pieces it was made of could be written.

    ``words`` are all of them, where they are given one by one.
    """

    dfa: Dfa
    regex: str | None
    words: tuple[str, ...] = ()


def plain_words(node: lark.Expression) -> list[str] | None:
    """Return the texts that a node is a choice of, as they are spelt; None for any other node."""
    if not isinstance(node, Choice) or len(node.branches) < 2:
        return None
    texts = [branch for branch in node.branches if isinstance(branch, lark.String)]
    plain = [text.raw for text in texts if text.raw and not text.ignores_case]
    return plain if len(plain) == len(node.branches) else None


class LlguidanceTerminals(NamedTerminals[TerminalLanguage]):
    """Evaluates terminal expressions."""

    def define(self, definition: lark.LarkDefinition, module: Module) -> TerminalLanguage | None:
        """Return the language of a definition; None after a report."""
        if definition.attributes:
            self.report.error(
                INVALID,
                "attributes belong to rules, not to terminals; name it in small letters",
                module.main_span(definition.attributes[0].span),
            )
        return self.evaluate(definition.body, module)

    def operands(self, node: lark.Expression) -> Sequence[lark.Expression]:
        """Return the parts of a node that are combined; a choice of texts is one trie."""
        return () if plain_words(node) else lark.children(node)

    def combine(
        self, node: lark.Expression, languages: list[TerminalLanguage], module: Module
    ) -> TerminalLanguage | None:
        """Return the language of a terminal expression; None after a report."""
        dfas = [language.dfa for language in languages]
        match node:
            case lark.Group():
                return languages[0]
            case ir.Sequence():
                return TerminalLanguage(
                    operations.concatenate(*dfas, limits=self.limits), joined("", languages)
                )
            case Choice() if words := plain_words(node):
                texts = tuple(dict.fromkeys(decode(word, Dialect.LLGUIDANCE) for word in words))
                dfa = operations.literals(
                    (text.encode() for text in texts), self.limits.regex_states
                )
                return TerminalLanguage(dfa, "|".join(map(escaped, texts)), texts)
            case Choice():
                return TerminalLanguage(
                    operations.union(*dfas, limits=self.limits), joined("|", languages)
                )
            case lark.Intersection():
                common = partial(operations.intersect, limits=self.limits)
                return TerminalLanguage(reduce(common, dfas), None)
            case lark.Complement():
                return TerminalLanguage(operations.complement(dfas[0]), None)
            case Repeat(_, low, high):
                check_counts(low, high, self.limits.repetition)
                dfa = operations.repeat(dfas[0], low, high, self.limits)
                regex = languages[0].regex
                return TerminalLanguage(dfa, regex and f"(?:{regex}){quantifier(low, high)}")
            case lark.Use():
                return self.used(node, module)
            case _:
                return self.leaf(node, module)

    def leaf(self, node: lark.Expression, module: Module) -> TerminalLanguage | None:
        """Return the language of a string, a range or a regular expression."""
        span = module.main_span(node.span)
        match node:
            case lark.String():
                return literal(decode(node.raw, Dialect.LLGUIDANCE), node.ignores_case)
            case lark.Range():
                first, last = (decode(e.raw, Dialect.LLGUIDANCE) for e in (node.first, node.last))
                return self._range(first, last, span)
            case lark.Regexp():
                return self._regexp(node, span)
            case lark.Foreign(lark.ForeignKind.REGEX):
                return self._regex_object(node)
        subject = _NO_TERMINALS.get(type(node), "this")
        if isinstance(node, lark.Foreign):
            like = f" (like {node.text})" if node.kind is lark.ForeignKind.SPECIAL else ""
            subject = f"{node.kind.value}{like}"
        raise LarkRefusedError(INVALID, f"{subject} cannot be used in terminals")

    def _range(self, first: str, last: str, span: Span) -> TerminalLanguage | None:
        if len(first) != 1 or len(last) != 1:
            which = "start" if len(first) != 1 else "end"
            raise LarkRefusedError(INVALID, f"range {which} must be a single character")
        if first > last:
            raise LarkRefusedError(INVALID, f"invalid range order: {first!r}..{last!r}")
        return self._compiled(f"[{escaped(first)}-{escaped(last)}]", span)

    def _regexp(self, node: lark.Regexp, span: Span) -> TerminalLanguage | None:
        if "l" in node.flags:
            raise LarkRefusedError(INVALID, "l-flag is not supported in regexes")
        raw = node.raw.replace("\\/", "/")
        flags = "".join(dict.fromkeys(flag for flag in node.flags if flag != "u"))
        regex = _EDGES.sub("", raw)
        if flags:
            regex = f"(?{flags}:{regex}\n)" if "x" in flags else f"(?{flags}:{regex})"
        elif _FLAGS.search(regex):
            # They apply to the end of the group, and other expressions may be put beside it.
            regex = f"(?:{regex})"
        return self._compiled(regex, span)

    def _compiled(self, regex: str, span: Span) -> TerminalLanguage | None:
        """Return the language of a Rust regular expression; None after a report."""
        result = compile_within(self.budget, regex, self.limits)
        for problem in result.problems:
            helps = (problem.help,) if problem.help else ()
            self.report.error(problem.code, problem.message, span, *helps)
        return None if result.dfa is None else TerminalLanguage(result.dfa, regex)

    def _regex_object(self, node: lark.Foreign) -> TerminalLanguage:
        try:
            value = parse_json(node.text)
        except NoJsonError as error:
            raise LarkRefusedError(INVALID, f"this is not JSON: {error.reason}") from None
        if not isinstance(value, dict) or len(value) != 1:
            raise LarkRefusedError(INVALID, "`%regex` takes an object with exactly one key")
        ((key, given),) = value.items()
        if key == "substring_chunks" and _is_texts(given):
            return TerminalLanguage(substring_chunks(given, self.limits), None)
        if key == "substring_words" and isinstance(given, str):
            return TerminalLanguage(substring_chunks(_words(given), self.limits), None)
        if key == "substring_chars" and isinstance(given, str):
            return TerminalLanguage(substring_chunks(list(given), self.limits), None)
        raise LarkRefusedError(
            INVALID,
            "`%regex` knows substring_chunks (texts), substring_words and substring_chars (a text)",
        )


@dataclass(slots=True)
class LlguidanceFactory:
    """LLGuidance's terminals: maximal munch, a match extends while the automaton lives."""

    terminals: LlguidanceTerminals
    lexing: Lexing
    _made: dict[str, tuple[LarkTerminal, bool]] = field(default_factory=dict)

    def named(self, flat: str, span: Span) -> Node | None:
        """Return a use of a named terminal; None after a report."""
        if flat not in self._made:
            language = self.terminals.named(flat, span)
            if language is None:
                return None
            self._made[flat] = self.make(language, flat, flat, span)
        return lexeme(*self._made[flat], span)

    def anonymous(self, body: lark.Expression, module: Module) -> Node | None:
        """Return a use of a terminal that is in a rule; None after a report."""
        language = self.terminals.evaluate(body, module)
        if language is None:
            return None
        return self.of_language(
            language, module.source.slice(body.span), module.main_span(body.span)
        )

    def of_language(
        self,
        language: TerminalLanguage,
        key: str,
        span: Span,
        is_lazy: bool = False,
        stopped: Stopped | None = None,
        opening: str | None = None,
        awaits_end: bool = False,
        is_cut: bool = False,
    ) -> Node:
        """Return a use of a terminal with these words; ``LarkTerminal`` documents the arguments.

        With ``is_cut`` it may end after each of its words, whatever follows.
        """
        if key not in self._made:
            made, nullable = self.make(language, key, None, span, is_lazy, is_cut)
            opening = opening or made.opening
            made = replace(made, stopped=stopped, opening=opening, awaits_end=awaits_end)
            self._made[key] = (made, nullable)
        return lexeme(*self._made[key], span)

    def make(
        self,
        language: TerminalLanguage,
        key: str,
        name: str | None,
        span: Span,
        is_lazy: bool = False,
        is_cut: bool = False,
    ) -> tuple[LarkTerminal, bool]:
        """Return the terminal, without the empty word, and whether that was one of its words."""
        nullable = language.dfa.is_nullable
        dfa = operations.difference(language.dfa, EPSILON) if nullable else language.dfa
        goes_on = self.lexing is Lexing.LLGUIDANCE and not (is_lazy or is_cut)
        stops = exits(dfa) if goes_on and not dfa.is_empty else (0,) * dfa.state_count
        rests = tuple(outside(mask) for mask in stops)
        written = None if nullable or language.regex is None else _written(language, dfa, span)
        made = LarkTerminal(
            key,
            name,
            dfa,
            span,
            rests,
            written,
            is_lazy=is_lazy,
            is_nullable=nullable,
            opening=language.regex,
        )
        return made, nullable


def _written(language: TerminalLanguage, dfa: Dfa, span: Span) -> tree.Expression:
    if language.words:
        return build.alternation([build.text(word, span) for word in language.words], span)
    text = only_text(dfa)
    if text:
        return build.text(text, span)
    return replace(build.regex(language.regex or "", span), dfa=dfa)


_NO_TERMINALS: dict[type, str] = {lark.Guarded: "%if", lark.TemplateUse: "templates"}


def joined(mark: str, languages: list[TerminalLanguage]) -> str | None:
    """Return the regular expressions of ``languages`` in a row, or separated by ``|``."""
    texts = []
    for language in languages:
        if language.regex is None:
            return None
        texts.append(language.regex if mark else _grouped(language.regex))
    return mark.join(texts)


def _grouped(regex: str) -> str:
    return f"(?:{regex})" if "|" in regex else regex


def literal(text: str, ignores_case: bool = False) -> TerminalLanguage:
    """Return the language of one text, or of its spellings in either case."""
    regex = escaped(text)
    if not ignores_case:
        return TerminalLanguage(operations.literal(text.encode()), regex)
    regex = f"(?i:{regex})"
    dfa = compile_regex(regex).dfa
    return TerminalLanguage(EPSILON if dfa is None else dfa, regex)


def substring_chunks(chunks: list[str], limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """Return the language of all runs of neighbouring chunks, the empty run included."""
    if all(len(chunk) == 1 and chunk.isascii() for chunk in chunks):
        return substrings("".join(chunks).encode())
    return chunk_runs([chunk.encode() for chunk in chunks], limits)


def _words(text: str) -> list[str]:
    """Split like LLGuidance: runs of letters and digits, of blanks, and of anything else."""
    return re.findall(r"\w+|\s+|[^\w\s]+", text)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_ATTRIBUTES = frozenset(
    {"lazy", "suffix", "stop", "max_tokens", "temperature", "capture", "stop_capture"}
)


def lexeme_rule(
    definition: lark.LarkDefinition,
    module: Module,
    factory: LlguidanceFactory,
    report: Report,
    plain: Callable[[], Node | None],
) -> Node | None:
    """Return what the rule matches; ``plain`` builds it as a rule, not a lexeme."""
    given = {attribute.name.value: attribute for attribute in definition.attributes}
    if not _are_attributes(given, module, report):
        return None
    _lose_captures(given, module, report)
    if not set(given) & {"lazy", "suffix", "stop", "max_tokens", "temperature"}:
        return plain()
    span = module.main_span(definition.body.span)
    if "max_tokens" in given:
        count = _count(given["max_tokens"], module, report)
        if not count:
            return None if count is None else ir.Sequence((), span)
    body = factory.terminals.evaluate(definition.body, module)
    if body is None:
        return None
    key = f"{definition.name.value}[{','.join(sorted(given))}]"
    ending = given.get("suffix") or given.get("stop")
    if "max_tokens" in given:
        return _cut(body, ending, key, span, module, factory)
    if ending is not None:
        return _ended(body, ending, key, span, module, factory)
    if "lazy" not in given:
        return factory.of_language(body, key, span)
    shortest = operations.shortest_matches(operations.difference(body.dfa, EPSILON))
    if body.dfa.is_nullable:
        shortest = operations.union(shortest, EPSILON)
    lazy = TerminalLanguage(shortest, None)
    return factory.of_language(lazy, key, span, is_lazy=True, opening=body.regex)


def _cut(
    body: TerminalLanguage,
    ending: lark.Attribute | None,
    key: str,
    span: Span,
    module: Module,
    factory: LlguidanceFactory,
) -> Node | None:
    """Return the lexeme that may be cut off anywhere: after how many tokens is not counted."""
    dfa = body.dfa
    if ending is not None:
        end = _ending(ending, module, factory, factory.terminals.report)
        if end is None:
            return None
        whole = operations.concatenate(dfa, end.dfa, limits=factory.terminals.limits)
        dfa = operations.shortest_matches(whole)
    # One token is there at least, unless the whole may be empty.
    begun = operations.prefixes(dfa)
    anywhere = TerminalLanguage(
        begun if dfa.is_nullable else operations.difference(begun, EPSILON), None
    )
    return factory.of_language(anywhere, key, span, is_cut=True, opening=body.regex)


def _lose_captures(given: dict[str, lark.Attribute], module: Module, report: Report) -> None:
    """Report captures that are otherwise than LLGuidance's."""
    if "stop_capture" in given:
        message = "`stop_capture` is not kept: the text that ends a lexeme is one with it"
        report.loss(APPROXIMATE, message, module.main_span(given["stop_capture"].span))
    if "capture" in given and {"stop", "suffix"} & set(given):
        message = "the captured text has the end of the lexeme in it, which LLGuidance leaves out"
        report.loss(APPROXIMATE, message, module.main_span(given["capture"].span))


def _are_attributes(given: dict[str, lark.Attribute], module: Module, report: Report) -> bool:
    for name in sorted(set(given) - _ATTRIBUTES):
        span = module.main_span(given[name].span)
        names = ", ".join(sorted(_ATTRIBUTES))
        report.error(INVALID, f"Unknown attribute `{name}`", span, f"there are {names}")
        return False
    if "temperature" in given and not isinstance(given["temperature"].value, float):
        message = "`temperature` needs a number"
        report.error(INVALID, message, module.main_span(given["temperature"].span))
        return False
    if "suffix" in given and "stop" in given:
        report.error(
            INVALID, "`stop` and `suffix` exclude each other", module.main_span(given["stop"].span)
        )
        return False
    return True


def _ended(
    body: TerminalLanguage,
    ending: lark.Attribute,
    key: str,
    span: Span,
    module: Module,
    factory: LlguidanceFactory,
) -> Node | None:
    """Return the lexeme that ends with the first text of ``ending``."""
    report = factory.terminals.report
    end = _ending(ending, module, factory, report)
    if end is None:
        return None
    if end.dfa.is_nullable:
        if not operations.is_equal(end.dfa, EPSILON):
            _lose_ending(ending, module, report)
        # Of `stop=""`, LLGuidance makes an ordinary lexeme, which the model may end, too.
        return factory.of_language(body, key, span, awaits_end=True)
    whole = operations.concatenate(body.dfa, end.dfa, limits=factory.terminals.limits)
    shortest = TerminalLanguage(operations.shortest_matches(whole), None)
    opening = joined("", [body, end])
    if ending.name.value == "suffix":
        return factory.of_language(shortest, key, span, is_lazy=True, opening=opening)

    def stopped(text: bytes) -> Dfa:
        if not end.dfa.accepts(text):
            return operations.empty()
        return operations.concatenate(body.dfa, operations.literal(text))

    return factory.of_language(shortest, key, span, is_lazy=True, stopped=stopped, opening=opening)


def is_stopped(definition: lark.LarkDefinition) -> bool:
    """Return whether a rule is a lexeme whose end may be matched again by what follows it."""
    return any(attribute.name.value == "stop" for attribute in definition.attributes)


def _ending(
    attribute: lark.Attribute, module: Module, factory: LlguidanceFactory, report: Report
) -> TerminalLanguage | None:
    if not isinstance(attribute.value, lark.String | lark.Regexp | lark.Use):
        report.error(
            INVALID,
            f"`{attribute.name.value}` needs a string, a regular expression or a terminal",
            module.main_span(attribute.span),
        )
        return None
    return factory.terminals.evaluate(attribute.value, module)


def _count(attribute: lark.Attribute, module: Module, report: Report) -> float | None:
    """Return the number of ``max_tokens``, which is lost unless it is 0; None after an error."""
    span = module.main_span(attribute.span)
    if not isinstance(attribute.value, float) or attribute.value < 0:
        report.error(INVALID, "`max_tokens` needs a number", span)
        return None
    if attribute.value:
        message = (
            "`max_tokens` is not counted: LLGuidance cuts the lexeme off after so many tokens; here"
            " it may be cut off after any byte, and has no bound"
        )
        report.loss(APPROXIMATE, message, span)
    return attribute.value


def _lose_ending(attribute: lark.Attribute, module: Module, report: Report) -> None:
    report.loss(
        APPROXIMATE,
        "`stop` of the empty text waits for the end of the sequence; here the lexeme ends like"
        " any other",
        module.main_span(attribute.span),
    )
