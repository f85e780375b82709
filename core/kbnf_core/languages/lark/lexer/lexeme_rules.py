"""LLGuidance's rules with attributes: ``lazy``, ``suffix``, ``stop``, and others."""

from collections.abc import Callable

from kbnf_core.automata import operations
from kbnf_core.languages.lark.lexer.llguidance_terminals import Language
from kbnf_core.languages.lark.lexer.terminals import LlguidanceFactory
from kbnf_core.languages.lark.reader.model import Node
from kbnf_core.languages.lark.reader.modules import Module
from kbnf_core.languages.lark.reader.report import APPROXIMATE, INVALID, Report
from kbnf_core.languages.lark.reader.tree import Attribute, Definition, Regexp, String

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
    for name in sorted(set(given) - _KNOWN):
        place = module.place(given[name].span)
        known = ", ".join(sorted(_KNOWN))
        report.error(INVALID, f"Unknown attribute `{name}`", place, f"there are {known}")
        return None
    if "suffix" in given and "stop" in given:
        report.error(
            INVALID, "`stop` and `suffix` cannot stand together", module.place(given["stop"].span)
        )
        return None
    if not set(given) & {"lazy", "suffix", "stop", "max_tokens", "temperature"}:
        return plain()
    body = factory.terminals.evaluate(definition.body, module)
    if body is None:
        return None
    if "max_tokens" in given:
        _lose_count(given["max_tokens"], module, report)
    key = f"{definition.name.value}[{','.join(sorted(given))}]"
    place = module.place(definition.body.span)
    ending = given.get("suffix") or given.get("stop")
    if ending is None:
        if "lazy" not in given:
            return factory.of_language(body, key, place)
        shortest = Language(operations.shortest_matches(body.dfa), None)
        return factory.of_language(shortest, key, place, is_lazy=True)
    end = _ending(ending, module, factory, report)
    if end is None:
        return None
    if end.dfa.is_nullable:
        _lose_ending(ending, module, report)
        return factory.of_language(body, key, place)
    whole = operations.concatenate(body.dfa, end.dfa, limits=factory.terminals.limits)
    shortest = Language(operations.shortest_matches(whole), None)
    return factory.of_language(shortest, key, place, is_lazy=True)


def _ending(
    attribute: Attribute, module: Module, factory: LlguidanceFactory, report: Report
) -> Language | None:
    if not isinstance(attribute.value, String | Regexp):
        report.error(
            INVALID,
            f"`{attribute.name.value}` needs a string or a regular expression",
            module.place(attribute.span),
        )
        return None
    return factory.terminals.leaf(attribute.value, module)


def _lose_count(attribute: Attribute, module: Module, report: Report) -> None:
    report.loss(
        APPROXIMATE,
        "`max_tokens` counts tokens, which a grammar cannot: any number may come",
        module.place(attribute.span),
    )


def _lose_ending(attribute: Attribute, module: Module, report: Report) -> None:
    report.loss(
        APPROXIMATE,
        "`stop` of the empty text waits for the end of the sequence; here the lexeme ends like"
        " any other",
        module.place(attribute.span),
    )
