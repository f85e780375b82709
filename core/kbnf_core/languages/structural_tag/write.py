"""From the nodes of a structural tag to rules of KBNF.

A tag, the JSON in it and free text are rules of their own, named after the tag's beginning; all
else is where it is used.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from kbnf_core.frontend import Language
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.build import (
    EMPTY,
    Form,
    alternation,
    definition,
    optional,
    regex,
    repeated,
    sequence,
    text,
)
from kbnf_core.kbnf.parsed import Request
from kbnf_core.languages.gbnf.language import GBNF
from kbnf_core.languages.json_schema.names import Names
from kbnf_core.languages.json_schema.options import Options
from kbnf_core.languages.json_schema.problems import TOO_LARGE
from kbnf_core.languages.lark.language import LARK
from kbnf_core.languages.structural_tag import contents as free_text
from kbnf_core.languages.structural_tag.cohere import CohereArguments
from kbnf_core.languages.structural_tag.contents import (
    MOST_BLANKS,
    Contents,
    TokenForms,
    options_in,
)
from kbnf_core.languages.structural_tag.formats import Token
from kbnf_core.languages.structural_tag.literals import NOTATIONS, LiteralArguments
from kbnf_core.languages.structural_tag.minimax_m3 import MiniMaxM3Arguments
from kbnf_core.languages.structural_tag.read import UNSUPPORTED, Node, Report
from kbnf_core.languages.structural_tag.schemas import is_sound
from kbnf_core.languages.structural_tag.xml import Arguments, NestedArguments
from kbnf_core.text.errors import LimitError
from kbnf_core.text.source import NOWHERE, Source, Span

START = "start"
_NESTED: dict[str, type[NestedArguments]] = {
    "cohere_xml": CohereArguments,
    "minimax_m3_xml": MiniMaxM3Arguments,
    **dict.fromkeys(NOTATIONS, LiteralArguments),
}
_SYNTAXES: dict[str, Language] = {"ebnf": GBNF, "lark": LARK}
OF_SCHEMAS = frozenset({"json_schema", "qwen_xml_parameter"})
"""The formats whose rules are written from a schema."""
OF_JSON = ("json", "call")
"""The styles of JSON: of arguments, and of whole calls, objects with a name and arguments."""


def place_of(node: Node) -> str:
    """Return the pointer of what the rules of a node are made of."""
    return f"{node.pointer}/json_schema" if node.kind in OF_SCHEMAS else node.pointer


_WISHES = {"json_schema": "json", "qwen_xml_parameter": "parameters", "grammar": "grammar"}


def write_rules(
    nodes: Sequence[Node], report: Report, request: Request, options: Options
) -> tuple[tree.Definition, ...]:
    """Return the rules of a structural tag, whose outermost node is the first, ``start`` ahead."""
    writer = Writer(nodes, report, request, options)
    for node in reversed(nodes):
        writer.write(node)
        if writer.count > options.limits.rules:
            message = f"more than {options.limits.rules:,} rules"
            report.error(
                place_of(node), message, "use fewer tools, or simpler ones", code=TOO_LARGE
            )
            return ()
    return writer.definitions()


class Writer:
    """Writes the nodes of a tag, inner ones first; ``options`` are those of the schemas inside."""

    def __init__(
        self, nodes: Sequence[Node], report: Report, request: Request, options: Options
    ) -> None:
        self._nodes = nodes
        self._report = report
        self._limits, self._vocabulary = request.limits, request.vocabulary
        self._options = options
        self._tokens = TokenForms(report, self._limits, self._vocabulary)
        names = Names("", frozenset({START}))
        self._hints = _hints(nodes, names)
        self._contents = Contents(names, report, request.limits)
        self._forms: dict[int, Form] = {}
        self._rules: list[tuple[tree.Definition, Span]] = []

    def definitions(self) -> tuple[tree.Definition, ...]:
        """Return the rules that the start leads to, those of outer formats first."""
        top = self._nodes[0]
        start = definition(START, self._forms[id(top)])
        found = [*self._rules, (start, self._report.span(top.pointer))]
        named: dict[str, set[str]] = {}
        for each, _ in found:
            named.setdefault(each.name.value, set()).update(_named(each.body))
        used, pending = {START}, [START]
        while pending:
            new = named[pending.pop()] & named.keys() - used
            used |= new
            pending += new
        kept = (pair for pair in reversed(found) if pair[0].name.value in used)
        return tuple(replace(each, span=span) for each, span in kept)

    @property
    def count(self) -> int:
        """How many rules there are."""
        return len(self._rules)

    def write(self, node: Node) -> None:
        """Make the expression of a node; those inside have theirs."""
        kind = "json_schema" if node.kind in OF_SCHEMAS else node.kind
        write = getattr(self, f"_{kind}")
        self._forms[id(node)] = write(node, *(self._forms[id(part)] for part in node.parts))
        span = self._report.span(place_of(node))
        self._rules += [(each, span) for each in reversed(self._contents.take())]

    # Texts

    def _const_string(self, node: Node) -> Form:
        return text(node.fields["value"])

    def _regex(self, node: Node) -> Form:
        pattern, dot_all = node.fields["pattern"], node.fields["dot_all"]
        return regex(self._contents.regex(pattern, f"{node.pointer}/pattern", dot_all=dot_all))

    def _grammar(self, node: Node) -> Form:
        fields, pointer = node.fields, f"{node.pointer}/grammar"
        language, options = _SYNTAXES[fields["syntax"]], {}
        if language is LARK:
            options["lexing"] = fields["lexing"]
        source = Source(fields["grammar"])
        request = Request(limits=self._limits, vocabulary=self._vocabulary, options=options)
        return self._contents.grammar(source, language, request, pointer, self._hints[id(node)])

    def _json_schema(self, node: Node) -> Form:
        self._losses_of_schema(node)
        fields = {"style": "qwen_xml", **node.fields}
        options, hint = options_in(fields, self._options), self._hints[id(node)]
        schema, pointer = fields["json_schema"], f"{node.pointer}/json_schema"
        if not is_sound(schema, pointer, self._report, options):
            return EMPTY
        if fields["style"] in OF_JSON:
            return self._contents.schema(schema, options, pointer, hint)
        write = _NESTED.get(fields["style"], Arguments)
        return write(self._contents, fields, options, node.pointer).write(hint)

    def _losses_of_schema(self, node: Node) -> None:
        if (node.fields["max_whitespace_cnt"] or 0) > MOST_BLANKS:
            where = f"{node.pointer}/max_whitespace_cnt"
            self._report.loss(where, f"at most {MOST_BLANKS:,} blanks can be counted")
        if node.fields["excludes"] and node.fields.get("style") in OF_JSON:
            self._report.loss(
                f"{node.pointer}/excludes", "what strings of JSON may not contain is left out"
            )

    def _any_text(self, node: Node) -> Form:
        if node.fields["max_tokens"] == 0 or node.fields["max_chars"] == 0:
            return EMPTY
        if node.fields["max_tokens"] is not None:
            self._report.loss(
                f"{node.pointer}/max_tokens",
                "no rule can count the tokens of a text: there is no bound",
                "`any_tokens` has tokens that are counted, `max_chars` counts characters",
            )
        words = _with_ends(node)
        most = node.fields["max_chars"]
        if most is None:
            return optional(self._text(words))
        return self._short_text(node, words, most)

    def _text(self, words: tuple[str, ...]) -> Form:
        """Return nonempty text without ``words``, a rule that all such texts share."""
        return self._contents.shared("text", free_text.avoiding(sorted(set(words))))

    def _short_text(self, node: Node, words: tuple[str, ...], most: int) -> Form:
        """Return text of at most so many characters, or, with ``words``, bytes."""
        pointer = f"{node.pointer}/max_chars"
        highest = self._limits.exception_length if words else self._limits.repetition
        if most > highest:
            self._report.loss(pointer, f"at most {highest:,} characters can be counted")
            most = highest
        if not words:
            return repeated(self._contents.shared("character", regex("(?s:.)")), 0, most)
        self._report.loss(
            pointer,
            f"{most:,} bytes are counted, not characters, as some texts are excluded",
            "all characters but those of ASCII have two to four bytes",
        )
        stop = self._contents.shared_name("stop", free_text.listed(words))
        return optional(tree.Exception_(tree.Name(stop, NOWHERE), most, NOWHERE))

    # Compositions

    def _sequence(self, node: Node, *parts: Form) -> Form:
        del node
        return sequence(*parts)

    def _or(self, node: Node, *parts: Form) -> Form:
        del node
        return alternation(parts)

    def _optional(self, node: Node, part: Form) -> Form:
        del node
        return optional(part)

    def _plus(self, node: Node, part: Form) -> Form:
        del node
        return repeated(part, 1, None)

    def _star(self, node: Node, part: Form) -> Form:
        del node
        return repeated(part, 0, None)

    def _repeat(self, node: Node, part: Form) -> Form:
        low, high = node.fields["min"], node.fields["max"]
        if high is not None and high < low:
            self._report.error(f"{node.pointer}/min", "`min` is larger than `max`")
            return EMPTY
        most = self._limits.repetition
        if max(low, high or 0) > most:
            self._report.error(node.pointer, f"counts beyond {most:,} are not supported")
            return EMPTY
        return repeated(part, low, high)

    # Tags

    def _tag(self, node: Node, content: Form) -> Form:
        whole = sequence(self._begin(node), content, self._end(node))
        return self._contents.add(definition(self._hints[id(node)], whole))

    def _begin(self, node: Node, skipped: int = 0) -> Form:
        begin = node.fields["begin"]
        if isinstance(begin, Token):
            return self._tokens.one(begin, f"{node.pointer}/begin/token")
        return text(begin[skipped:])

    def _end(self, node: Node) -> Form:
        end = node.fields["end"]
        if isinstance(end, Token):
            return self._tokens.one(end, f"{node.pointer}/end/token")
        return alternation(map(text, dict.fromkeys(end)))

    def _tags_with_separator(self, node: Node, *tags: Form) -> Form:
        one = alternation(tags)
        if node.fields["stop_after_first"]:
            found = one
        else:
            found = sequence(one, repeated(sequence(text(node.fields["separator"]), one), 0, None))
        return found if node.fields["at_least_one"] else optional(found)

    def _triggered_tags(self, node: Node, *tags: Form) -> Form:
        triggers: dict[str, list[int]] = {each: [] for each in node.fields["triggers"]}
        for index, tag in enumerate(node.parts):
            begin = tag.fields["begin"]
            where = f"{tag.pointer}/begin"
            if isinstance(begin, Token):
                self._report.error(where, "a tag that a text triggers begins with a text")
                return EMPTY
            found = [trigger for trigger in triggers if begin.startswith(trigger)]
            if len(found) != 1:
                what = "more than one trigger" if found else "none of the triggers"
                self._report.error(where, f"this tag begins with {what}, and should with just one")
                return EMPTY
            triggers[found[0]].append(index)
        if node.fields["at_least_one"] and node.fields["stop_after_first"]:
            return alternation(tags)
        words = _with_ends(node)
        calls = [
            self._triggered(node, trigger, (*triggers, *words), indices, tags)
            for trigger, indices in triggers.items()
        ]
        return self._dispatched(node, calls, (*triggers, *words), alternation(tags))

    def _triggered(
        self,
        node: Node,
        trigger: str,
        words: tuple[str, ...],
        indices: Sequence[int],
        tags: Sequence[Form],
    ) -> "Call":
        """Return the call of a trigger's tags; a trigger without tags is text."""
        if free_text.is_clean(trigger, words):
            calls = [tags[index] for index in indices]
            return Call(None, alternation(calls) if calls else self._word(trigger))
        rests = [self._rest(node.parts[index], len(trigger)) for index in indices]
        return Call(self._up_to(node, trigger, words), alternation(rests))

    def _word(self, trigger: str) -> Form:
        """Return a trigger that leads to nothing, so that it is text."""
        return text(trigger)

    def _rest(self, tag: Node, skipped: int) -> Form:
        """Return a tag without the first characters of its beginning."""
        content = self._forms[id(tag.parts[0])]
        return sequence(self._begin(tag, skipped), content, self._end(tag))

    def _up_to(self, node: Node, trigger: str, words: tuple[str, ...]) -> Form:
        try:
            return free_text.up_to(trigger, words)
        except LimitError:
            message = f"the texts that end with `{trigger}` are too many to be written"
            self._report.error(node.pointer, message, code=UNSUPPORTED)
            return EMPTY

    def _dispatch(self, node: Node, *parts: Form) -> Form:
        triggers: dict[str, list[Form]] = {}
        for trigger, part in zip(node.fields["rules"], parts, strict=True):
            triggers.setdefault(trigger, []).append(part)
        words = (*triggers, *node.fields["excludes"])
        calls = []
        for trigger, contents in triggers.items():
            content = alternation(contents)
            if free_text.is_clean(trigger, words):
                calls.append(Call(None, sequence(text(trigger), content)))
            else:
                calls.append(Call(self._up_to(node, trigger, words), content))
        return self._dispatched(node, calls, words, EMPTY)

    def _dispatched(
        self, node: Node, calls: Sequence["Call"], words: tuple[str, ...], first: Form
    ) -> Form:
        """Return free text with calls in it, as often as ``node`` says; ``first`` may lead it."""
        free = optional(self._text(words))
        plain = [each.called for each in calls if each.before is None]
        steps = [sequence(each.before, each.called) for each in calls if each.before is not None]
        if plain:
            steps.append(sequence(free, alternation(plain)))
        step = alternation(steps)
        loops = node.fields.get("loop", not node.fields.get("stop_after_first"))
        if not loops:
            return alternation([step, free])
        body = sequence(repeated(step, 0, None), free)
        return sequence(first, body) if node.fields.get("at_least_one") else body

    # Tokens

    def _token(self, node: Node) -> Form:
        return self._tokens.one(node.fields["token"], f"{node.pointer}/token")

    def _exclude_token(self, node: Node) -> Form:
        return self._tokens.other(node, node.fields["exclude_tokens"])

    def _any_tokens(self, node: Node) -> Form:
        return self._tokens.any_others(node)

    def _token_triggered_tags(self, node: Node, *tags: Form) -> Form:
        return self._tokens.triggered_tags(node, tags)

    def _token_dispatch(self, node: Node, *parts: Form) -> Form:
        return self._tokens.dispatch(node, parts)


class Call(NamedTuple):
    """What is called, and the texts that lead to it; None is free text, which all share."""

    before: Form | None
    called: Form


def _named(body: Form) -> set[str]:
    """Return the rules that an expression speaks of."""
    found = set()
    for node in tree.postorder(body):
        name = node.excluded if isinstance(node, tree.Exception_) else node
        if isinstance(name, tree.Reference | tree.Name):
            found.add(name.value if isinstance(name, tree.Name) else name.name.value)
    return found


def _with_ends(node: Node) -> tuple[str, ...]:
    """Return what a text excludes, and the ends of the tag around it."""
    ends = () if isinstance(node.ends, Token) else node.ends
    return tuple(dict.fromkeys([*node.fields["excludes"], *filter(None, ends)]))


def _hints(nodes: Iterable[Node], names: Names) -> dict[int, str]:
    """Return the names of tags' rules, and hints for those of contents, after their tags."""
    found: dict[int, str] = {}
    for node in nodes:
        if node.kind == "tag":
            begin = node.fields["begin"]
            hint = str(begin.name) if isinstance(begin, Token) else begin
            found[id(node)] = names.fresh(hint if any(map(str.isalpha, hint)) else "tag")
            content = node.parts[0] if node.parts else None
            if content is not None and content.kind in _WISHES:
                found[id(content)] = f"{found[id(node)]}_{_WISHES[content.kind]}"
        elif node.kind in _WISHES and id(node) not in found:
            found[id(node)] = node.fields.get("tool") or _WISHES[node.kind]
    return found
