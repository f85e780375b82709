"""From the nodes of a structural tag to rules of the IR.

A tag, the JSON in it and free text are rules of their own, named after the tag's beginning; all
else is where it is used.

*Tokens* have an id, or their name; what excludes tokens needs their ids, and so the vocabulary
where it names them by their texts.

Tests: tests/unit/languages/test_structural_tag.py, tests/unit/languages/tools
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from kbnf_core import ir
from kbnf_core.frontend import Language
from kbnf_core.ir.build import EMPTY, alternation, optional, repeated, sequence, text
from kbnf_core.ir.names import HintedNames
from kbnf_core.kbnf.parsed import Request
from kbnf_core.languages.gbnf.language import GBNF
from kbnf_core.languages.json_schema import Options
from kbnf_core.languages.json_schema.keywords import TOO_LARGE
from kbnf_core.languages.lark.language import LARK
from kbnf_core.languages.structural_tag.contents import (
    MOST_BLANKS,
    START,
    Contents,
    RuleSet,
    document_of,
    in_tokens,
    is_clean,
    is_sound,
    options_in,
    up_to,
)
from kbnf_core.languages.structural_tag.nested import (
    NOTATIONS,
    CohereArguments,
    LiteralArguments,
    MiniMaxM3Arguments,
    NestedArguments,
)
from kbnf_core.languages.structural_tag.read import UNSUPPORTED, FormatNode, NamedToken, TagReport
from kbnf_core.languages.structural_tag.xml import Arguments
from kbnf_core.text.errors import LimitError, WorkLimitError
from kbnf_core.text.source import NOWHERE, Source

_MOST_TOKENS = 2**32 - 1

_COMPOSED: dict[str, Callable[[Sequence[ir.Node]], ir.Node]] = {
    "sequence": lambda nodes: sequence(*nodes),
    "or": alternation,
    "optional": lambda nodes: optional(nodes[0]),
    "plus": lambda nodes: repeated(nodes[0], 1, None),
    "star": lambda nodes: repeated(nodes[0], 0, None),
}
"""The formats whose expressions are those of their parts alone."""

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


def pointer_of(node: FormatNode) -> str:
    """Return the pointer of the value that a node's rules are made of."""
    return f"{node.pointer}/json_schema" if node.kind in OF_SCHEMAS else node.pointer


_SUFFIXES = {"json_schema": "json", "qwen_xml_parameter": "parameters", "grammar": "grammar"}


class TagWriter:
    """Writes the nodes of a tag, inner ones first; ``options`` are those of the schemas inside.

    ``markers`` are texts that are one token each: free text does not contain those that begin tags.
    ``make`` is the class of the writer of contents, ``names`` are those of all rules.
    """

    def __init__(
        self,
        nodes: Sequence[FormatNode],
        report: TagReport,
        request: Request,
        options: Options,
        markers: Mapping[str, ir.TokenTerminal] = MappingProxyType({}),
        make: type[Contents] = Contents,
    ) -> None:
        self._nodes = nodes
        self._report = report
        self._limits, self._vocabulary = request.limits, request.vocabulary
        self._options = options
        self.names = HintedNames("", frozenset({START}))
        self._hints = _hints(nodes, self.names)
        self._contents = make(self.names, report, request.limits)
        self._markers = sorted(markers, key=len, reverse=True)
        self._contents.markers = {marker.encode(): markers[marker] for marker in markers}
        self._forms: dict[int, ir.Node] = {}

    def write(self) -> list[RuleSet]:
        """Return the rules of all nodes, those of outer ones first; none where there are errors.

        The outermost node is the first, and its rule the start.
        """
        rule_sets: list[RuleSet] = []
        count, most = 0, self._options.limits.rules
        for node in reversed(self._nodes):
            pointer_ = self._contents.pointer = pointer_of(node)
            try:
                self._write(node)
            except WorkLimitError as error:
                message = f"the grammar takes more than {error.limit:,} steps of work"
                self._report.error(pointer_, message, "raise `Limits.work`", code="E107")
            made = self._contents.take(pointer_)
            rule_sets += reversed(made)
            count += sum(len(rule.rules) for rule in made)
            if count > most:
                message, help_ = f"more than {most:,} rules", "use fewer tools, or simpler ones"
                self._report.error(pointer_, message, help_, code=TOO_LARGE)
            if self._report.errors and self._report.errors[-1].code in (TOO_LARGE, "E107"):
                return []
        top = self._nodes[0]
        whole = in_tokens(self._forms[id(top)], self._contents.markers)
        rule_sets.append(RuleSet([(START, whole)], top.pointer))
        return rule_sets[::-1]

    def _write(self, node: FormatNode) -> None:
        """Make the expression of a node; those inside have theirs."""
        forms = [self._forms[id(inner)] for inner in node.children]
        if node.kind in _COMPOSED:
            self._forms[id(node)] = _COMPOSED[node.kind](forms)
        else:
            kind = "json_schema" if node.kind in OF_SCHEMAS else node.kind
            self._forms[id(node)] = getattr(self, f"_{kind}")(node, *forms)

    # Texts

    def _const_string(self, node: FormatNode) -> ir.Node:
        return text(node.fields["value"])

    def _regex(self, node: FormatNode) -> ir.Node:
        self._contents.pointer = f"{node.pointer}/pattern"
        pattern, dot_all = node.fields["pattern"], node.fields["dot_all"]
        return self._contents.whole_pattern(pattern, dot_all=dot_all)

    def _grammar(self, node: FormatNode) -> ir.Node:
        fields, pointer = node.fields, f"{node.pointer}/grammar"
        language, options = _SYNTAXES[fields["syntax"]], {}
        if language is LARK:
            options["lexing"] = fields["lexing"]
        source = Source(fields["grammar"])
        request = Request(limits=self._limits, vocabulary=self._vocabulary, options=options)
        return self._contents.grammar(source, language, request, pointer, self._hints[id(node)])

    def _json_schema(self, node: FormatNode) -> ir.Node:
        if (node.fields["max_whitespace_cnt"] or 0) > MOST_BLANKS:
            where = f"{node.pointer}/max_whitespace_cnt"
            self._report.loss(where, f"at most {MOST_BLANKS:,} blanks can be counted")
        fields = {"style": "qwen_xml", **node.fields}
        options, hint = options_in(fields, self._options), self._hints[id(node)]
        schema, pointer = fields["json_schema"], f"{node.pointer}/json_schema"
        if not is_sound(schema, pointer, self._report, options):
            return EMPTY
        if fields["style"] in OF_JSON:
            document = document_of(schema, self._report, options)
            return self._contents.schema(document, options, pointer, hint, fields["excludes"])
        write = _NESTED.get(fields["style"], Arguments)
        return write(self._contents, fields, options, node.pointer).write(hint)

    def _any_text(self, node: FormatNode) -> ir.Node:
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

    def _text(self, words: tuple[str, ...]) -> ir.Node:
        """Return nonempty text without ``words``, a rule that all such texts share."""
        avoided = tuple(sorted(set(words)))
        return self._contents.shared("text", avoided, lambda: self._contents.avoiding(avoided))

    def _short_text(self, node: FormatNode, words: tuple[str, ...], most: int) -> ir.Node:
        """Return text of at most so many characters, or, with ``words``, bytes."""
        pointer = f"{node.pointer}/max_chars"
        highest = self._limits.exception_length if words else self._limits.repetition
        if most > highest:
            self._report.loss(pointer, f"at most {highest:,} characters can be counted")
            most = highest
        if not words:
            return repeated(self._contents.character(), 0, most)
        self._report.loss(
            pointer,
            f"{most:,} bytes are counted, not characters, as some texts are excluded",
            "all characters but those of ASCII have two to four bytes",
        )
        return optional(self._contents.short(words, most))

    # Compositions

    def _repeat(self, node: FormatNode, body: ir.Node) -> ir.Node:
        low, high = node.fields["min"], node.fields["max"]
        if high is not None and high < low:
            self._report.error(f"{node.pointer}/min", "`min` is larger than `max`")
            return EMPTY
        most = self._limits.repetition
        if max(low, high or 0) > most:
            self._report.error(node.pointer, f"counts beyond {most:,} are not supported")
            return EMPTY
        return repeated(body, low, high)

    # Tags

    def _tag(self, node: FormatNode, content: ir.Node) -> ir.Node:
        whole = sequence(self._begin(node), content, self._end(node))
        return self._contents.add(self._hints[id(node)], whole)

    def _begin(self, node: FormatNode, skipped: int = 0) -> ir.Node:
        begin = node.fields["begin"]
        if isinstance(begin, NamedToken):
            return self._one_token(begin, f"{node.pointer}/begin/token")
        return text(begin[skipped:])

    def _end(self, node: FormatNode) -> ir.Node:
        end = node.fields["end"]
        if isinstance(end, NamedToken):
            return self._one_token(end, f"{node.pointer}/end/token")
        return alternation(map(text, dict.fromkeys(end)))

    def _tags_with_separator(self, node: FormatNode, *tags: ir.Node) -> ir.Node:
        one = alternation(tags)
        if node.fields["stop_after_first"]:
            result = one
        else:
            result = sequence(one, repeated(sequence(text(node.fields["separator"]), one), 0, None))
        return result if node.fields["at_least_one"] else optional(result)

    def _triggered_tags(self, node: FormatNode, *tags: ir.Node) -> ir.Node:
        triggers: dict[str, list[int]] = {field: [] for field in node.fields["triggers"]}
        for index, tag in enumerate(node.children):
            begin = tag.fields["begin"]
            where = f"{tag.pointer}/begin"
            if isinstance(begin, NamedToken):
                self._report.error(where, "a tag that a text triggers begins with a text")
                return EMPTY
            matching = [trigger for trigger in triggers if begin.startswith(trigger)]
            if len(matching) != 1:
                problem = "more than one trigger" if matching else "none of the triggers"
                self._report.error(
                    where, f"this tag begins with {problem}, and should with just one"
                )
                return EMPTY
            triggers[matching[0]].append(index)
        if node.fields["at_least_one"] and node.fields["stop_after_first"]:
            return alternation(tags)
        tokens = [self._token_ahead(trigger_) for trigger_ in triggers]
        begun = [token or trigger_ for token, trigger_ in zip(tokens, triggers, strict=True)]
        words = tuple(dict.fromkeys([*begun, *_with_ends(node)]))
        calls = [
            self._triggered(node, trigger, words, indices, tags)
            for trigger, indices in triggers.items()
        ]
        return self._dispatched(node, calls, words, alternation(tags))

    def _token_ahead(self, trigger: str) -> str | None:
        """Return the marker that a text begins with and that is a token, None for none."""
        return next(filter(trigger.startswith, self._markers), None)

    def _triggered(
        self,
        node: FormatNode,
        trigger: str,
        words: tuple[str, ...],
        indices: Sequence[int],
        tags: Sequence[ir.Node],
    ) -> "SharedCall":
        """Return the call of a trigger's tags; a trigger without tags is text."""
        if self._token_ahead(trigger) or is_clean(trigger, words):
            calls = [tags[index] for index in indices]
            return SharedCall(None, alternation(calls) if calls else self._word(trigger))
        rests = [self._rest(node.children[index], len(trigger)) for index in indices]
        return SharedCall(self._up_to(node, trigger, words), alternation(rests))

    def _word(self, trigger: str) -> ir.Node:
        """Return a trigger that leads to nothing, so that it is text."""
        return text(trigger)

    def _rest(self, tag: FormatNode, skipped: int) -> ir.Node:
        """Return a tag without the first characters of its beginning."""
        content = self._forms[id(tag.children[0])]
        return sequence(self._begin(tag, skipped), content, self._end(tag))

    def _up_to(self, node: FormatNode, trigger: str, words: tuple[str, ...]) -> ir.Node:
        try:
            return up_to(trigger, words)
        except LimitError:
            message = f"the texts that end with `{trigger}` are too many to be written"
            self._report.error(node.pointer, message, code=UNSUPPORTED)
            return EMPTY

    def _dispatch(self, node: FormatNode, *forms: ir.Node) -> ir.Node:
        triggers: dict[str, list[ir.Node]] = {}
        for trigger, form in zip(node.fields["rules"], forms, strict=True):
            triggers.setdefault(trigger, []).append(form)
        words = (*triggers, *node.fields["excludes"])
        calls = []
        for trigger, contents in triggers.items():
            content = alternation(contents)
            if is_clean(trigger, words):
                calls.append(SharedCall(None, sequence(text(trigger), content)))
            else:
                calls.append(SharedCall(self._up_to(node, trigger, words), content))
        return self._dispatched(node, calls, words, EMPTY)

    def _dispatched(
        self,
        node: FormatNode,
        calls: Sequence["SharedCall"],
        words: tuple[str, ...],
        first: ir.Node,
    ) -> ir.Node:
        """Return free text with calls in it, as often as ``node`` says; ``first`` may lead it."""
        free = optional(self._text(words))
        plain = [call.called for call in calls if call.before is None]
        steps = [sequence(call.before, call.called) for call in calls if call.before is not None]
        if plain:
            steps.append(sequence(free, alternation(plain)))
        step = alternation(steps)
        loops = node.fields.get("loop", not node.fields.get("stop_after_first"))
        if not loops:
            return alternation([step, free])
        body = sequence(repeated(step, 0, None), free)
        return sequence(first, body) if node.fields.get("at_least_one") else body

    # Tokens

    def _token(self, node: FormatNode) -> ir.Node:
        return self._one_token(node.fields["token"], f"{node.pointer}/token")

    def _exclude_token(self, node: FormatNode) -> ir.Node:
        return self._other_token(node, node.fields["exclude_tokens"])

    def _any_tokens(self, node: FormatNode) -> ir.Node:
        most = node.fields["max_tokens"]
        highest = self._limits.repetition
        if most is not None and most > highest:
            where = f"{node.pointer}/max_tokens"
            self._report.loss(where, f"at most {highest:,} tokens can be counted")
            most = highest
        return repeated(self._other_token(node, node.fields["exclude_tokens"]), 0, most)

    def _token_triggered_tags(self, node: FormatNode, *tags: ir.Node) -> ir.Node:
        triggers = [self._resolved(field) for field in node.fields["trigger_tokens"]]
        for tag in node.children:
            begin = tag.fields["begin"]
            where = f"{tag.pointer}/begin"
            if not isinstance(begin, NamedToken):
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
        other = self._other_token(node, excluded)
        if fields["stop_after_first"]:
            return sequence(repeated(other, 0, None), optional(one))
        rest = repeated(alternation([one, other]), 0, None)
        return sequence(one, rest) if fields["at_least_one"] else rest

    def _token_dispatch(self, node: FormatNode, *forms: ir.Node) -> ir.Node:
        triggers = node.fields["rules"]
        other = self._other_token(node, (*triggers, *node.fields["exclude_tokens"]), around=False)
        calls = alternation(
            sequence(self._one_token(trigger, f"{node.pointer}/rules/{index}/0"), form)
            for index, (trigger, form) in enumerate(zip(triggers, forms, strict=True))
        )
        if node.fields["loop"]:
            return repeated(alternation([calls, other]), 0, None)
        return sequence(repeated(other, 0, None), optional(calls))

    def _resolved(self, token: NamedToken) -> NamedToken:
        """Return a token by its id, if the vocabulary contains it."""
        if isinstance(token.name, int) or self._vocabulary is None:
            return token
        special = self._vocabulary.special_tokens.get(token.name)
        if special is not None:
            return NamedToken(special)
        ids = self._vocabulary.token_ids(token.name.encode())
        return NamedToken(min(ids)) if ids else token

    def _one_token(self, token: NamedToken, pointer: str) -> ir.Node:
        """Return a token, by its id where that is known."""
        name = self._resolved(token).name
        if isinstance(name, int):
            return _token(((name, name),))
        if self._vocabulary is not None:
            self._report.error(pointer, f"the vocabulary has no token {name!r}")
        return ir.Token(ir.TokenTerminal(name), NOWHERE)

    def _other_token(
        self, node: FormatNode, excluded: Iterable[NamedToken], *, around: bool = True
    ) -> ir.Node:
        """Return any token but some, and but the one that ends the tag around it."""
        tokens = [*excluded]
        if around and isinstance(node.ends, NamedToken):
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
            return _token(((0, _MOST_TOKENS),))
        return _token(tuple((token_id, token_id) for token_id in sorted(ids)), negated=True)


class SharedCall(NamedTuple):
    """A callee, and the texts that lead to it; None is free text, which all share."""

    before: ir.Node | None
    called: ir.Node


def _with_ends(node: FormatNode) -> tuple[str, ...]:
    """Return the texts that a text excludes, and the ends of the tag around it."""
    ends = () if isinstance(node.ends, NamedToken) else node.ends
    return tuple(dict.fromkeys([*node.fields["excludes"], *filter(None, ends)]))


def _hints(nodes: Iterable[FormatNode], names: HintedNames) -> dict[int, str]:
    """Return the names of tags' rules, and hints for those of contents, after their tags."""
    result: dict[int, str] = {}
    for node in nodes:
        if node.kind == "tag":
            begin = node.fields["begin"]
            hint = str(begin.name) if isinstance(begin, NamedToken) else begin
            result[id(node)] = names.fresh(hint if any(map(str.isalpha, hint)) else "tag")
            content = node.children[0] if node.children else None
            if content is not None and content.kind in _SUFFIXES:
                result[id(content)] = f"{result[id(node)]}_{_SUFFIXES[content.kind]}"
        elif node.kind in _SUFFIXES and id(node) not in result:
            result[id(node)] = node.fields.get("tool") or _SUFFIXES[node.kind]
    return result


def _token(ranges: tuple[tuple[int, int], ...], *, negated: bool = False) -> ir.Node:
    return ir.Token(ir.TokenTerminal(None, ranges, negated), NOWHERE)
