"""E502: constructs that the target engine of a grammar refuses.

A grammar in the engine's own language is looked at as it is, any other as what is left when it is
converted. All of this was measured: ``tests/golden/lint/targets.json`` has the verdicts of the
engines, and their versions.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kbnf_core.diagnostics import Diagnostic, Rule
from kbnf_core.frontend import Reading
from kbnf_core.lint.analysis.features import Feature, features_of
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.source import Span

RULES = (Rule("E502", "refused-by-target", "An engine named by `--target` refuses a construct."),)
NEEDS = Needs.DOCUMENT

_BOTH_KBNF: Mapping[Feature, str] = {
    Feature.RAW: 'write `#"..."`, with each backslash doubled',
    Feature.COUNTED: "write the turns out, or use a regular expression",
    Feature.BYTES: "only valid UTF-8 can be written there",
    Feature.TOKEN: "special tokens cannot be written there",
    Feature.COMMENT_IN_RULE: "move it before the rule",
    Feature.BRACKET_IN_QUOTES: "move the quoted text to a rule of its own",
    Feature.NO_LAST_SEMICOLON: "end the rule with `;`",
    Feature.BYTE_ORDER_MARK: "save the file without it",
    Feature.SAME_AS_START: "that engine crashes on it: change one of the two, such as by `| ''`",
}

REFUSED: Mapping[str, Mapping[Feature, str]] = {
    "kbnf-0.2": {
        **_BOTH_KBNF,
        Feature.EARLY: "it came with kbnf 0.3",
        Feature.COMPLEMENT: "it came with kbnf 0.3; `except!` excludes texts there",
        Feature.SUBSTRINGS: "it came with kbnf 0.3",
    },
    "kbnf-0.4": {
        **_BOTH_KBNF,
        Feature.EXCEPTION: 'kbnf 0.3 removed it: `#ex"..."` excludes a regular expression there',
    },
    "llama.cpp": {Feature.NO_TEXT: "it matches characters, no other bytes"},
    "llguidance": {Feature.NO_TEXT: "it matches characters, no other bytes"},
    "xgrammar": {
        Feature.NO_TEXT: "its grammars are converted as text: only valid UTF-8 can be kept",
        Feature.TOKEN: "special tokens cannot be written there",
    },
}
"""What each target refuses after conversion to its language, and what to do instead."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each construct that one of ``targets`` does not take."""
    for target in subject.options.targets:
        yield from _refused(subject.reading, target)


def _refused(reading: Reading, target: str) -> Iterator[Diagnostic]:
    from kbnf_core.lint.analysis import target_dialects

    match reading.language.name, target:
        case "GBNF", "llama.cpp":
            found = target_dialects.llama_cpp_refuses(reading)
            yield from (replace(each, code="E502") for each in found)
            return
        case "GBNF", "xgrammar":
            refused: Iterator[tuple[str, Span, str]] = target_dialects.xgrammar_refuses(reading)
        case "Lark", "llguidance":
            refused = target_dialects.llguidance_refuses(reading)
        case _:
            refused = _refused_after_conversion(reading, target)
    for what, span, help_ in refused:
        message = f"{target} does not take {what}"
        yield Diagnostic("E502", message, reading.document.source, span, helps=(help_,))


def _refused_after_conversion(reading: Reading, target: str) -> Iterator[tuple[str, Span, str]]:
    for feature, span in features_of(reading):
        if feature in REFUSED[target]:
            yield feature.value, span, REFUSED[target][feature]
