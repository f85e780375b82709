"""LLGuidance's rules with attributes: ``lazy``, ``suffix``, ``stop``, and others."""

from collections.abc import Callable

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.ir import Sequence
from kbnf_core.languages.lark.lexer.llguidance_terminals import (
    EPSILON,
    Language,
    LlguidanceFactory,
    joined,
)
from kbnf_core.languages.lark.reader.model import Node
from kbnf_core.languages.lark.reader.modules import Module
from kbnf_core.languages.lark.reader.report import APPROXIMATE, INVALID, Report
from kbnf_core.languages.lark.reader.tree import Attribute, Definition, Regexp, String, Use
from kbnf_core.source import Span

_KNOWN = frozenset(
    {"lazy", "suffix", "stop", "max_tokens", "temperature", "capture", "stop_capture"}
)


def lexeme_rule(
    definition: Definition,
    module: Module,
    factory: LlguidanceFactory,
    report: Report,
    plain: Callable[[], Node | None],
) -> Node | None:
    """Return what the rule matches; ``plain`` builds it as a rule that is no lexeme."""
    given = {attribute.name.value: attribute for attribute in definition.attributes}
    if not _are_attributes(given, module, report):
        return None
    if not set(given) & {"lazy", "suffix", "stop", "max_tokens", "temperature"}:
        return plain()
    place = module.place(definition.body.span)
    if "max_tokens" in given:
        count = _count(given["max_tokens"], module, report)
        if not count:
            return None if count is None else Sequence((), place)
    body = factory.terminals.evaluate(definition.body, module)
    if body is None:
        return None
    key = f"{definition.name.value}[{','.join(sorted(given))}]"
    ending = given.get("suffix") or given.get("stop")
    if ending is not None:
        return _ended(body, ending, key, place, module, factory)
    if "lazy" not in given:
        return factory.of_language(body, key, place)
    shortest = operations.shortest_matches(operations.difference(body.dfa, EPSILON))
    if body.dfa.is_nullable:
        shortest = operations.union(shortest, EPSILON)
    lazy = Language(shortest, None)
    return factory.of_language(lazy, key, place, is_lazy=True, opening=body.regex)


def _are_attributes(given: dict[str, Attribute], module: Module, report: Report) -> bool:
    for name in sorted(set(given) - _KNOWN):
        place = module.place(given[name].span)
        known = ", ".join(sorted(_KNOWN))
        report.error(INVALID, f"Unknown attribute `{name}`", place, f"there are {known}")
        return False
    if "suffix" in given and "stop" in given:
        report.error(
            INVALID, "`stop` and `suffix` cannot stand together", module.place(given["stop"].span)
        )
        return False
    return True


def _ended(
    body: Language,
    ending: Attribute,
    key: str,
    place: Span,
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
        return factory.of_language(body, key, place, awaits_end=True)
    whole = operations.concatenate(body.dfa, end.dfa, limits=factory.terminals.limits)
    shortest = Language(operations.shortest_matches(whole), None)
    opening = joined("", [body, end])
    if ending.name.value == "suffix":
        return factory.of_language(shortest, key, place, is_lazy=True, opening=opening)

    def stopped(text: bytes) -> Dfa:
        if not end.dfa.accepts(text):
            return operations.empty()
        return operations.concatenate(body.dfa, operations.literal(text))

    return factory.of_language(shortest, key, place, is_lazy=True, stopped=stopped, opening=opening)


def is_stopped(definition: Definition) -> bool:
    """Tell whether a rule is a lexeme whose end may be matched again by what follows it."""
    return any(attribute.name.value == "stop" for attribute in definition.attributes)


def _ending(
    attribute: Attribute, module: Module, factory: LlguidanceFactory, report: Report
) -> Language | None:
    if not isinstance(attribute.value, String | Regexp | Use):
        report.error(
            INVALID,
            f"`{attribute.name.value}` needs a string, a regular expression or a terminal",
            module.place(attribute.span),
        )
        return None
    return factory.terminals.evaluate(attribute.value, module)


def _count(attribute: Attribute, module: Module, report: Report) -> float | None:
    """Return the number of ``max_tokens``, which is lost unless it is 0; None after an error."""
    place = module.place(attribute.span)
    if not isinstance(attribute.value, float) or attribute.value < 0:
        report.error(INVALID, "`max_tokens` needs a number", place)
        return None
    if attribute.value:
        message = (
            "`max_tokens` counts tokens, which a grammar cannot: LLGuidance cuts the text off"
            " there, here it goes on as long as it matches"
        )
        report.loss(APPROXIMATE, message, place)
    return attribute.value


def _lose_ending(attribute: Attribute, module: Module, report: Report) -> None:
    report.loss(
        APPROXIMATE,
        "`stop` of the empty text waits for the end of the sequence; here the lexeme ends like"
        " any other",
        module.place(attribute.span),
    )
