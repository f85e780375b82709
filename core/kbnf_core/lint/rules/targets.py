"""E502: what the engine that a grammar is meant for refuses.

A grammar in the engine's own language is looked at as it is, any other as what is left when it is
converted. All of this was measured: ``tests/golden/lint/targets.json`` has the verdicts of the
engines, and their versions.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.frontend import Reading
from kbnf_core.languages import GBNF, LARK, Language
from kbnf_core.lint.analysis.features import Feature, features_of
from kbnf_core.lint.analysis.target_dialects import (
    Refused,
    llama_cpp_refuses,
    llguidance_refuses,
    xgrammar_refuses,
)

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

_OWN: Mapping[tuple[Language, str], Callable[[Reading], Iterator[Refused]]] = {
    (GBNF, "xgrammar"): xgrammar_refuses,
    (LARK, "llguidance"): llguidance_refuses,
}


def check_targets(reading: Reading, targets: tuple[str, ...]) -> Iterator[Diagnostic]:
    """Yield a finding for each construct that one of ``targets`` does not take."""
    for target in targets:
        if (reading.language, target) == (GBNF, "llama.cpp"):
            yield from (replace(each, code="E502") for each in llama_cpp_refuses(reading))
            continue
        refuses = _OWN.get((reading.language, target), partial(_refused_after_conversion, target))
        for what, span, help_ in refuses(reading):
            message = f"{target} does not take {what}"
            yield Diagnostic("E502", message, reading.document.source, span, helps=(help_,))


def _refused_after_conversion(target: str, reading: Reading) -> Iterator[Refused]:
    for feature, span in features_of(reading):
        if feature in REFUSED[target]:
            yield Refused(feature.value, span, REFUSED[target][feature])
