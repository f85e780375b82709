"""The catalogue of codes: every finding the toolkit can report, once.

Letters tell the default severity (E error, W warning, I info); hundreds tell the subject:
0 the text of the grammar, 1 names and rules, 2 regular expressions, 3 generation, 4 other
languages (up to W410 what a conversion loses, from W411 on what readers disagree on), 5 other
engines, 6 vocabularies, 7 size, 8 JSON Schema, 9 the tool.
A code is never reused for another meaning.
"""

import enum
from dataclasses import dataclass


class Severity(enum.IntEnum):
    """How bad a finding is; larger is worse."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The word that users read and write."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry: a stable code, a readable name, and one sentence."""

    code: str
    name: str
    summary: str

    @property
    def severity(self) -> Severity:
        """The severity that the code's letter stands for."""
        return _SEVERITIES[self.code[0]]


_SEVERITIES = {"E": Severity.ERROR, "W": Severity.WARNING, "I": Severity.INFO}

_RULES = (
    # The text
    Rule("E001", "syntax-error", "The text is not a KBNF grammar at this place."),
    Rule("E002", "missing-semicolon", "A rule does not end with `;`."),
    Rule("E003", "unbalanced-bracket", "A bracket is not closed, or closes nothing."),
    Rule("E004", "unterminated-string", "A quoted text has no closing quote."),
    Rule("E005", "unterminated-comment", "A comment has no closing `*)`."),
    Rule("E006", "wrong-definition-sign", "A rule is defined with something else than `::=`."),
    Rule("E007", "invalid-escape", "A quoted text holds an escape that KBNF does not know."),
    Rule("E008", "other-language", "The file is written in another grammar language."),
    Rule("E009", "invalid-utf8", "The file is not valid UTF-8."),
    Rule("E010", "no-rules", "The file defines no rule."),
    Rule("E011", "empty-alternative", "An alternative is empty."),
    Rule("E012", "nested-too-deeply", "Brackets are nested deeper than the limit."),
    Rule("E013", "invalid-repetition", "A repetition count is impossible or over the limit."),
    Rule("E014", "invalid-exception", "The arguments of `except!` are malformed."),
    Rule("E015", "stacked-operator", "A postfix operator follows another one."),
    Rule("E016", "invalid-token-set", "The argument of `#token` is malformed."),
    Rule("E017", "text-too-large", "The text is larger than the limit."),
    Rule("W001", "missing-last-semicolon", "The last rule does not end with `;`."),
    Rule("W002", "unknown-pragma", "A `kbnf:` comment is not understood."),
    Rule("W003", "unused-ignore", "An `ignore[...]` comment silences nothing."),
    # Names and rules
    Rule("E101", "undefined-nonterminal", "A nonterminal is used but not defined."),
    Rule("E102", "undefined-start", "The start nonterminal is not defined."),
    Rule("E103", "invalid-excepted-nonterminal", "`except!(NAME)`: NAME is not made of terminals."),
    Rule("E104", "invalid-excepted-terminal", "`except!` excludes the empty string."),
    Rule("E105", "empty-language", "No text, or only the empty one, matches the grammar."),
    Rule("E106", "grammar-too-large", "The grammar needs more states than the limit."),
    Rule("E107", "too-much-work", "The grammar takes more work than the limit."),
    Rule("W101", "unused-nonterminal", "A nonterminal is defined but never used."),
    Rule("W102", "unreachable-nonterminal", "A nonterminal cannot be reached from the start."),
    Rule("W103", "unproductive", "A rule or alternative can never be completed."),
    Rule("W104", "duplicate-alternative", "The same alternative stands twice in a rule."),
    Rule("W105", "nullable-start", "The start matches the empty text, which cannot be generated."),
    Rule("W106", "empty-loop", "A loop can go round without consuming anything."),
    Rule("W107", "shadowed-alternative", "Another alternative matches all texts of this one."),
    Rule("I108", "overlapping-alternatives", "Two alternatives match the same text."),
    Rule("I109", "ambiguous", "A text has two derivations."),
    Rule("I110", "recursive-list", "A rule calls itself where a loop would do."),
    # Regular expressions
    Rule("E201", "regex-syntax-error", "A regular expression is malformed."),
    Rule("E202", "unsupported-regex", "A regular expression uses an unsupported construct."),
    Rule("E203", "regex-too-large", "A regular expression needs more states than the limit."),
    Rule("E204", "regex-invalid-utf8", "A regular expression could match invalid UTF-8."),
    Rule("W205", "lost-backslash", "A character class goes on where it seems to end."),
    Rule("I206", "beyond-ascii", "A part of a regular expression matches more than ASCII."),
    # Generation
    Rule("W301", "never-reached-alternative", "Eager finish ends before this alternative can."),
    Rule("W302", "endless-whitespace", "A loop of whitespace has no end."),
    Rule("I303", "endless-digits", "A loop of digits has no end."),
    Rule("W304", "never-entered", "Eager finish ends before this loop or optional part."),
    Rule("W305", "excepted-at-border", "An excluded text can come about where `except!` ends."),
    Rule("W306", "odd-exception-limit", "The limit of an `except!` is not what it seems."),
    Rule("W307", "cut-by-eager", "Eager finish ends texts that the grammar would let go on."),
    Rule("W308", "endless-language", "No text of the grammar ever ends."),
    Rule("I309", "default-finish", "The end of texts is set by the configuration alone."),
    # Other languages
    Rule("W401", "lost-bytes", "Bytes that are no UTF-8 text cannot be kept."),
    Rule("W402", "lost-token", "A token cannot be named in the other language."),
    Rule("W403", "lost-finish", "Generation ends at another place than in the original."),
    Rule("W404", "lost-part", "A part has no counterpart of a reasonable size."),
    Rule("W405", "lost-vocabulary", "A part depends on a vocabulary that is not known."),
    Rule("W411", "gbnf-dialect", "llama.cpp refuses what other readers of GBNF take."),
    Rule("W412", "gbnf-redefinition", "A GBNF rule is defined again, which replaces it."),
    Rule("W413", "gbnf-odd-character", "A GBNF string or class does not match what it seems to."),
    Rule("W414", "gbnf-repetition", "A count is above what llama.cpp can count to."),
    Rule("I411", "gbnf-left-recursion", "llama.cpp refuses left recursion."),
    Rule("E421", "lark-invalid", "A construct of a Lark file is none in its dialect."),
    Rule("E422", "lark-import", "A Lark file imports what cannot be found."),
    Rule("E423", "lark-unsupported", "A construct of a Lark file has no counterpart."),
    Rule("W421", "lark-lexing", "The lexer cuts text in a way that rules cannot keep."),
    Rule("W422", "lark-approximate", "A construct of a Lark file is kept only in part."),
    Rule("W423", "lark-never", "A part of a Lark file matches no text."),
    # Other dialects and engines
    Rule("W501", "misread-escape", "An escape means something else in other dialects."),
    Rule("E502", "refused-by-target", "An engine named by `--target` refuses a construct."),
    # Vocabularies
    Rule("E601", "unreachable-end", "The tokens of the vocabulary cannot complete the start."),
    Rule("W602", "special-token-text", "A literal holds the text of a special token."),
    Rule("W603", "unspellable", "No token contains a byte that a terminal needs."),
    Rule("E604", "unknown-token", "A `#token` is not in the vocabulary."),
    # Size
    Rule("W701", "large-terminal", "A terminal needs very many states."),
    Rule("I702", "cost", "What a grammar takes; reported with `--cost`."),
    Rule("E703", "over-budget", "A grammar, or the masks of a rule, passes a budget."),
    # The tool
    Rule("I901", "stopped-early", "A check was too large to be completed."),
    # JSON Schema
    Rule("E801", "unsupported-keyword", "No grammar can keep what this keyword asks for."),
    Rule("E802", "invalid-schema", "The text is not a JSON Schema."),
    Rule("E803", "unsatisfiable-schema", "No value satisfies the schema."),
    Rule("E804", "schema-too-large", "The schema passes a limit of the conversion."),
    Rule("E805", "unresolved-reference", "A reference leads nowhere."),
    Rule("W806", "unknown-format", "A `format` is none that JSON Schema defines."),
)

CATALOGUE: dict[str, Rule] = {rule.code: rule for rule in _RULES}
