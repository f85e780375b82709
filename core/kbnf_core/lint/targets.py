"""E502: what the engine that a grammar is meant for refuses.

The columns of kbnf 0.2 and 0.4 were measured on 0.2.9 and 0.4.2; those of the other engines are
about what is left after conversion, from their documentation and issue trackers.
"""

from collections.abc import Iterator, Mapping

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.frontend import Reading
from kbnf_core.lint.features import Feature, features_of

_BOTH_KBNF: Mapping[Feature, str] = {
    Feature.COUNTED: "write the turns out, or use a regular expression",
    Feature.BYTES: "only valid UTF-8 can be written there",
    Feature.TOKEN: "special tokens cannot be written there",
    Feature.COMMENT_IN_RULE: "move it before the rule",
    Feature.BRACKET_IN_QUOTES: "move the quoted text to a rule of its own",
    Feature.NO_LAST_SEMICOLON: "end the rule with `;`",
    Feature.BYTE_ORDER_MARK: "save the file without it",
    Feature.SAME_AS_START: "that engine crashes on it: change one of the two, such as by `| ''`",
}

_NO_EXCEPTIONS: Mapping[Feature, str] = {
    Feature.EXCEPTION: "it has no complement of texts: write a regular expression",
    Feature.COMPLEMENT: "it has no complement of texts: write a regular expression",
    Feature.EARLY: "it does not end at a first match: write what must follow",
    Feature.BYTES: "its terminals are made of characters",
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
    "llama.cpp": {
        **_NO_EXCEPTIONS,
        Feature.SUBSTRINGS: "it has no such form: list the texts",
        Feature.BIG_REPETITION: "2,000 is its limit",
        Feature.LEFT_RECURSION: "write a loop, or recursion on the right",
        Feature.EMPTY_LOOP: "it takes this for left recursion",
    },
    "llguidance": {Feature.BYTES: "its terminals are made of characters"},
    "xgrammar": {
        **_NO_EXCEPTIONS,
        Feature.SUBSTRINGS: "it has no such form: list the texts",
        Feature.TOKEN: "special tokens cannot be written there",
    },
}
"""What each target refuses, and what to do instead."""


def check_targets(reading: Reading, targets: tuple[str, ...]) -> Iterator[Diagnostic]:
    """Yield a finding for each use of a feature that one of ``targets`` does not have."""
    for feature, span in features_of(reading):
        for target in targets:
            if feature in REFUSED[target]:
                yield Diagnostic(
                    "E502",
                    f"{target} does not take {feature.value}",
                    reading.document.source,
                    span,
                    helps=(REFUSED[target][feature],),
                )
