"""LLGuidance's terminals as regular languages, in the syntax of Rust's regular expressions."""

import json
import re
from dataclasses import dataclass, field, replace
from functools import partial, reduce

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.regex import compile_regex
from kbnf_core.automata.substrings import chunk_runs, substrings
from kbnf_core.languages.lark.build_tree import pattern, terminal
from kbnf_core.languages.lark.lexer.lookahead import exits, outside
from kbnf_core.languages.lark.reader.dialect import Dialect, InvalidStringError, decode
from kbnf_core.languages.lark.reader.model import Lexing, Node, Stopped, Terminal, lexeme
from kbnf_core.languages.lark.reader.modules import Module, NamedTerminals
from kbnf_core.languages.lark.reader.report import INVALID, Report
from kbnf_core.languages.lark.reader.tree import (
    Alternation,
    Complement,
    Definition,
    Expression,
    GrammarReference,
    Group,
    Guarded,
    Intersection,
    Json,
    Nested,
    Range,
    RegexObject,
    Regexp,
    Repeat,
    Sequence,
    Special,
    String,
    TemplateUse,
    Use,
    children,
)
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Span
from kbnf_core.syntax import tree
from kbnf_core.traversal import fold

EPSILON = operations.literal(b"")
_EDGES = re.compile(r"\A\^|(?<!\\)\$\Z")


@dataclass(frozen=True, slots=True)
class Language:
    """A set of words; ``regex`` writes it, where the pieces it was made of could be written."""

    dfa: Dfa
    regex: str | None


class LlguidanceTerminals(NamedTerminals[Language]):
    """Evaluates terminal expressions."""

    def define(self, definition: Definition, module: Module) -> Language | None:
        """Return the language of a definition; None after a report."""
        if definition.attributes:
            self.report.error(
                INVALID,
                "attributes belong to rules, not to terminals; name it in small letters",
                module.place(definition.attributes[0].span),
            )
        return self.evaluate(definition.body, module)

    def evaluate(self, root: Expression, module: Module) -> Language | None:
        """Return the language of a terminal expression; None after a report."""

        def combine(node: Expression, parts: list[Language | None]) -> Language | None:
            whole = [part for part in parts if part is not None]
            if len(whole) < len(parts):
                return None
            try:
                return self._combine(node, whole, module)
            except LimitError as error:
                place = module.place(node.span)
                self.report.error("E203", f"this terminal needs {error}", place)
                return None

        return fold(root, children, combine)

    def _combine(self, node: Expression, parts: list[Language], module: Module) -> Language | None:
        dfas = [part.dfa for part in parts]
        match node:
            case Group():
                return parts[0]
            case Sequence():
                return Language(
                    operations.concatenate(*dfas, limits=self.limits), joined("", parts)
                )
            case Alternation():
                return Language(operations.union(*dfas, limits=self.limits), joined("|", parts))
            case Intersection():
                common = partial(operations.intersect, limits=self.limits)
                return Language(reduce(common, dfas), None)
            case Complement():
                return Language(operations.complement(dfas[0]), None)
            case Repeat(_, low, high):
                if not self.check_counts(low, high, module.place(node.span)):
                    return None
                dfa = operations.repeat(dfas[0], low, high, self.limits)
                return Language(dfa, counted(parts[0].regex, low, high))
            case Use():
                return self.used(node, module)
            case _:
                return self.leaf(node, module)

    def check_counts(self, low: int, high: int | None, span: Span) -> bool:
        """Report impossible repetition counts."""
        if low < 0:
            self.report.error("E013", f"range start must be >= 0, got {low}", span)
        elif high is not None and high < low:
            self.report.error("E013", f"range end must be >= start, got ({low}, {high})", span)
        elif max(low, high or 0) > self.limits.repetition:
            self.report.error("E013", f"counts go up to {self.limits.repetition:,}", span)
        else:
            return True
        return False

    def leaf(self, node: Expression, module: Module) -> Language | None:
        """Return the language of a string, a range or a regular expression."""
        place = module.place(node.span)
        match node:
            case String():
                text = self.text(node, module)
                return None if text is None else literal(text, node.ignores_case)
            case Range():
                return self._range(node, module)
            case Regexp():
                return self._regexp(node, module)
            case RegexObject():
                return self._regex_object(node, place)
        what = _FOREIGN.get(type(node), "this")
        if isinstance(node, Special):
            what = f"special tokens (like {node.text})"
        self.report.error(INVALID, f"{what} cannot be used in terminals", place)
        return None

    def text(self, node: String, module: Module) -> str | None:
        """Return the decoded string; None after a report."""
        try:
            return decode(node.raw, Dialect.LLGUIDANCE)
        except InvalidStringError as error:
            self.report.error("E007", str(error), module.place(node.span))
            return None

    def _range(self, node: Range, module: Module) -> Language | None:
        first, last = self.text(node.first, module), self.text(node.last, module)
        if first is None or last is None:
            return None
        return character_range(first, last, module.place(node.span), self.report)

    def _regexp(self, node: Regexp, module: Module) -> Language | None:
        place = module.place(node.span)
        if "l" in node.flags:
            self.report.error(INVALID, "l-flag is not supported in regexes", place)
            return None
        raw = node.raw.replace("\\/", "/")
        flags = "".join(dict.fromkeys(flag for flag in node.flags if flag != "u"))
        regex = _EDGES.sub("", raw)
        if flags:
            regex = f"(?{flags}:{regex}\n)" if "x" in flags else f"(?{flags}:{regex})"
        return compiled(regex, place, self.report, self.limits)

    def _regex_object(self, node: RegexObject, place: Span) -> Language | None:
        value = json.loads(node.text)
        if not isinstance(value, dict) or len(value) != 1:
            self.report.error(INVALID, "`%regex` takes an object with exactly one key", place)
            return None
        ((key, given),) = value.items()
        if key == "substring_chunks" and _is_texts(given):
            return Language(substring_chunks(given, self.limits), None)
        if key == "substring_words" and isinstance(given, str):
            return Language(substring_chunks(_words(given), self.limits), None)
        if key == "substring_chars" and isinstance(given, str):
            return Language(substring_chunks(list(given), self.limits), None)
        self.report.error(
            INVALID,
            "`%regex` knows substring_chunks (texts), substring_words and substring_chars (a text)",
            place,
        )
        return None


@dataclass(slots=True)
class LlguidanceFactory:
    """LLGuidance's terminals: maximal munch, a match extends while the automaton lives."""

    terminals: LlguidanceTerminals
    lexing: Lexing
    _made: dict[str, tuple[Terminal, bool]] = field(default_factory=dict)

    def named(self, flat: str, span: Span) -> Node | None:
        """Return a use of a named terminal; None after a report."""
        if flat not in self._made:
            language = self.terminals.named(flat, span)
            if language is None:
                return None
            self._made[flat] = self.make(language, flat, flat, span)
        return lexeme(*self._made[flat], span)

    def anonymous(self, body: Expression, module: Module) -> Node | None:
        """Return a use of a terminal that stands in a rule; None after a report."""
        language = self.terminals.evaluate(body, module)
        if language is None:
            return None
        return self.of_language(language, module.source.slice(body.span), module.place(body.span))

    def of_language(
        self,
        language: Language,
        key: str,
        span: Span,
        is_lazy: bool = False,
        stopped: Stopped | None = None,
        opening: str | None = None,
        awaits_end: bool = False,
    ) -> Node:
        """Return a use of a terminal with these words; see ``Terminal`` for the last three."""
        if key not in self._made:
            made, nullable = self.make(language, key, None, span, is_lazy)
            opening = opening or made.opening
            made = replace(made, stopped=stopped, opening=opening, awaits_end=awaits_end)
            self._made[key] = (made, nullable)
        return lexeme(*self._made[key], span)

    def make(
        self, language: Language, key: str, name: str | None, span: Span, is_lazy: bool = False
    ) -> tuple[Terminal, bool]:
        """Return the terminal, without the empty word, and whether that was one of its words."""
        nullable = language.dfa.is_nullable
        dfa = operations.difference(language.dfa, EPSILON) if nullable else language.dfa
        goes_on = self.lexing is Lexing.LLGUIDANCE and not is_lazy
        stops = exits(dfa) if goes_on and not dfa.is_empty else (0,) * dfa.state_count
        rests = tuple(outside(mask) for mask in stops)
        written = None if nullable or language.regex is None else _written(language, dfa, span)
        made = Terminal(
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


def _written(language: Language, dfa: Dfa, span: Span) -> tree.Expression:
    word = operations.shortest_word(dfa)
    if word is not None and len(word) == dfa.state_count - 1:
        try:
            text = word.decode()
        except UnicodeDecodeError:
            text = ""
        if text and operations.is_equal(dfa, operations.literal(word)):
            return terminal(text, span)
    return pattern(language.regex or "", span)


_FOREIGN: dict[type, str] = {
    Json: "%json literals",
    Nested: "%lark literals",
    GrammarReference: "grammar references",
    Guarded: "%if",
    TemplateUse: "templates",
}


def joined(mark: str, parts: list[Language]) -> str | None:
    """Return the regular expressions of ``parts``, one after the other or separated by ``|``."""
    pieces = []
    for part in parts:
        if part.regex is None:
            return None
        pieces.append(part.regex if mark else _grouped(part.regex))
    return mark.join(pieces)


def counted(regex: str | None, low: int, high: int | None) -> str | None:
    """Return ``regex``, repeated."""
    if regex is None:
        return None
    bounds = {(0, 1): "?", (0, None): "*", (1, None): "+"}
    operator = bounds.get((low, high)) or f"{{{low},{'' if high is None else high}}}"
    return f"(?:{regex}){operator}"


def _grouped(regex: str) -> str:
    return f"(?:{regex})" if "|" in regex else regex


def literal(text: str, ignores_case: bool = False) -> Language:
    """Return the language of one text, or of its spellings in either case."""
    regex = escape(text)
    if not ignores_case:
        return Language(operations.literal(text.encode()), regex)
    regex = f"(?i:{regex})"
    dfa = compile_regex(regex).dfa
    return Language(EPSILON if dfa is None else dfa, regex)


def escape(text: str) -> str:
    """Return a regular expression of exactly ``text``."""
    return "".join(
        f"\\{char}" if char in r"\.+*?()|[]{}^$#&-~/" and char != "/" else char for char in text
    )


def compiled(regex: str, place: Span, report: Report, limits: Limits) -> Language | None:
    """Return the language of a Rust regular expression; None after a report."""
    result = compile_regex(regex, limits)
    for problem in result.problems:
        helps = (problem.help,) if problem.help else ()
        report.error(problem.code, problem.message, place, *helps)
    return None if result.dfa is None else Language(result.dfa, regex)


def character_range(first: str, last: str, place: Span, report: Report) -> Language | None:
    """Return the language of ``"first".."last"``; None after a report."""
    if len(first) != 1 or len(last) != 1:
        which = "start" if len(first) != 1 else "end"
        report.error(INVALID, f"range {which} must be a single character", place)
        return None
    if first > last:
        report.error(INVALID, f"invalid range order: {first!r}..{last!r}", place)
        return None
    return compiled(f"[{escape(first)}-{escape(last)}]", place, report, DEFAULT_LIMITS)


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
