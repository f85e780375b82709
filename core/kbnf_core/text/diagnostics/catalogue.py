"""The catalogue of codes: every finding the toolkit can report, its page, and their selection.

Codes of readers and converters are here, with pages in `pages/`. Those of lints are beside the
lints, in `lint/rules/`: what the catalogue says of them is the head of their pages, so that no
lint is imported to name it. A test compares both with the `RULES` of the lints.

Letters say the default severity (E error, W warning, I info); hundreds say the subject:
0 the text of the grammar, 1 names and rules, 2 regular expressions, 3 generation, 4 other
languages (up to W410 what a conversion loses, from W411 on what readers disagree on), 5 other
engines, 6 vocabularies, 7 size, 8 JSON Schema, 9 the tool.
A code is never reused for another meaning.

Tests: tests/unit/text/test_explain.py, tests/unit/text/test_selection.py
"""

import enum
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from kbnf_core.text.locks import cached_property

_PAGES = Path(__file__).parent / "pages"
_PAGES_OF_LINTS = Path(__file__).parents[2] / "lint" / "rules"


class Severity(enum.IntEnum):
    """How bad a finding is; larger is worse."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The word that users read and write."""
        return self.name.lower()


class Rule(NamedTuple):
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
    Rule("E001", "syntax-error", "Syntax error in a KBNF grammar."),
    Rule("E002", "missing-semicolon", "A rule does not end with `;`."),
    Rule("E003", "unbalanced-bracket", "A bracket is not closed, or closes nothing."),
    Rule("E004", "unterminated-string", "A quoted text has no closing quote."),
    Rule("E005", "unterminated-comment", "A comment has no closing `*)`."),
    Rule("E006", "wrong-definition-sign", "A rule is defined with another sign than `::=`."),
    Rule("E007", "invalid-escape", "A quoted text contains an escape that KBNF does not know."),
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
    Rule("E108", "misused-number", "A family and the number of a rule do not fit together."),
    # Regular expressions
    Rule("E201", "regex-syntax-error", "A regular expression is malformed."),
    Rule("E202", "unsupported-regex", "A regular expression uses an unsupported construct."),
    Rule("E203", "regex-too-large", "A regular expression needs more states than the limit."),
    Rule("E204", "regex-invalid-utf8", "A regular expression could match invalid UTF-8."),
    # Generation
    Rule("W308", "endless-language", "No text of the grammar ever ends."),
    # Other languages
    Rule("W401", "lost-bytes", "Bytes that are not UTF-8 text cannot be kept."),
    Rule("W402", "lost-token", "A token cannot be named in the other language."),
    Rule("W403", "lost-finish", "Generation stops at a different point than in the original."),
    Rule("W404", "lost-part", "A part has no equivalent of a reasonable size."),
    Rule("W405", "lost-vocabulary", "A part depends on a vocabulary that is not known."),
    Rule("W411", "gbnf-dialect", "llama.cpp refuses a construct that other GBNF readers accept."),
    Rule("W412", "gbnf-redefinition", "A GBNF rule is defined again, which replaces it."),
    Rule(
        "W413",
        "gbnf-odd-character",
        "A GBNF string or class does not match what it appears to match.",
    ),
    Rule("W414", "gbnf-repetition", "A repetition count exceeds llama.cpp's limit."),
    Rule("I411", "gbnf-left-recursion", "llama.cpp refuses left recursion."),
    Rule("E421", "lark-invalid", "A construct is not valid in this dialect of Lark."),
    Rule("E422", "lark-import", "An import of a Lark file cannot be found."),
    Rule("E423", "lark-unsupported", "A construct of a Lark file has no equivalent."),
    Rule("W421", "lark-lexing", "The lexer splits text in a way that rules cannot express."),
    Rule("W422", "lark-approximate", "A construct of a Lark file is only partly kept."),
    Rule("W423", "lark-never", "A part of a Lark file matches no text."),
    Rule("W424", "lark-collision", "Two terminals of a Lark file match the same text."),
    Rule("I421", "lark-dialect", "A Lark file is read as LLGuidance's, since Lark refuses it."),
    Rule("E431", "abnf-prose", "A part of an ABNF rule is described in prose."),
    Rule("W433", "abnf-left-out", "An ABNF rule that cannot be generated is not needed."),
    Rule(
        "E432",
        "abnf-redefinition",
        "An ABNF rule is defined twice, or extended before it is defined.",
    ),
    Rule("E441", "structural-tag-invalid", "Invalid structural tag."),
    Rule("E442", "structural-tag-unsupported", "A part of a structural tag cannot be written."),
    Rule("W441", "structural-tag-approximate", "A field of a structural tag is only partly kept."),
    Rule("W442", "structural-tag-ignored", "A field of a structural tag has no effect."),
    # Other engines
    Rule("E503", "engine-refuses", "An engine that was asked refuses the schema or the grammar."),
    Rule("W504", "engine-ignores", "An engine that was asked does not enforce this keyword."),
    Rule("W505", "engine-rejects", "An engine that was asked rejects a document that is valid."),
    Rule("I506", "engine-costs", "An engine that was asked takes long, or much memory."),
    # The tool
    Rule(
        "E901",
        "languages-differ",
        "A grammar accepts a text that another one should accept and refuses.",
    ),
    Rule(
        "E902",
        "comparison-undecided",
        "Neither a difference between two grammars nor a proof of equality was found.",
    ),
    Rule("I901", "stopped-early", "A check was too large to be completed."),
    # Response templates
    Rule("E443", "invalid-response-template", "Invalid response template."),
    Rule("W443", "misread-response", "A response template reads a text otherwise than written."),
    # JSON Schema
    Rule("E451", "foreign-unsupported", "A construct of a foreign grammar has no equivalent."),
    Rule("W451", "foreign-approximate", "A construct of a foreign grammar is only partly kept."),
    Rule(
        "W452",
        "foreign-lexing",
        "Tokens may touch that the lexer would read as one, or match the texts of others.",
    ),
    Rule("E801", "unsupported-keyword", "No grammar can enforce this keyword."),
    Rule("E802", "invalid-schema", "The text is not a JSON Schema."),
    Rule("E803", "unsatisfiable-schema", "No value satisfies the schema."),
    Rule("E804", "schema-too-large", "The schema passes a limit of the conversion."),
    Rule("E805", "unresolved-reference", "A reference cannot be resolved."),
    Rule("W806", "unknown-format", "Unknown `format`."),
    Rule("W807", "keyword-without-effect", "A keyword of a schema has no effect."),
    Rule("W808", "narrowed-values", "The grammar leaves out some values that the schema allows."),
    Rule("E809", "not-for-service", "The strict mode of a service refuses this part of a schema."),
    Rule("I810", "names-may-repeat", "Members of an object that repeat a name count each time."),
    Rule("W821", "misspelt-name", "A name in a schema looks misspelt."),
    Rule("W822", "contradiction", "No value satisfies a part of the schema."),
    Rule("I823", "open-objects", "Objects of the schema allow properties that it does not name."),
    Rule("E824", "invalid-tool-list", "Invalid list of tools."),
    Rule("W825", "refused-tool", "The service that reads a list of tools refuses this part."),
    Rule("W827", "no-schema", "An object in JSON has no keyword that restricts anything."),
    Rule("W829", "older-draft", "A keyword has the form of an older draft of JSON Schema."),
    Rule("W831", "repeated-name", "A name occurs twice in an object of a schema."),
    Rule("I826", "tool-without-schema", "An entry of a list of tools is not a function."),
    Rule("I828", "text-markers", "Markers of tool calls are not tokens of the vocabulary."),
    Rule("I830", "python-check", "Python code of a class decides which of these values are valid."),
)


class _Catalogue(Mapping[str, Rule]):
    """Rules by their codes; those of lints are looked up when first asked for."""

    def __getitem__(self, code: str) -> Rule:
        try:
            return self._rules[code]
        except KeyError:
            advice = (
                f"a lint has one beside it, `lint/rules/NAME.{code}.md`, others are in `pages/`"
            )
            raise KeyError(f"the code {code} has no page: {advice}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)

    @cached_property
    def _rules(self) -> dict[str, Rule]:
        lints = map(_read_head, sorted(_PAGES_OF_LINTS.glob("*.md"), key=_number))
        by_subject = sorted([*_RULES, *lints], key=lambda rule: rule.code[1])
        return {rule.code: rule for rule in by_subject}


CATALOGUE: Mapping[str, Rule] = _Catalogue()


def page_of(rule: Rule) -> Path:
    """Return the file of a rule's page: beside its lint (`NAME.CODE.md`), or in `pages/`."""
    return next(_PAGES_OF_LINTS.glob(f"*.{rule.code}.md"), _PAGES / f"{rule.code}.md")


def _number(page: Path) -> str:
    return page.name[-len("000.md") :]


def _read_head(page: Path) -> Rule:
    """Return the rule of a page: `# CODE: NAME`, an empty line, and one sentence."""
    with page.open(encoding="utf-8") as lines:
        title, _, summary = next(lines), next(lines), next(lines)
    code, _, name = title.removeprefix("# ").strip().partition(": ")
    return Rule(code, name, summary.strip())


def read_page(rule: Rule) -> str:
    """Return the Markdown page of a rule; raises ``OSError`` where nobody wrote it."""
    page = page_of(rule)
    if not page.exists():
        raise FileNotFoundError(
            f"{rule.code} has no page: a lint has `NAME.{rule.code}.md` beside it, a reader"
            f" `text/diagnostics/pages/{rule.code}.md`"
        )
    return page.read_text(encoding="utf-8")


def find_rule(text: str) -> Rule | None:
    """Return the rule whose code or name ``text`` is, in any case."""
    wanted = text.strip().lower()
    matches = (rule for rule in CATALOGUE.values() if wanted in (rule.code.lower(), rule.name))
    return next(matches, None)


def nearest_rules(text: str) -> list[Rule]:
    """Return at most three rules whose code or name looks like ``text``, the nearest first."""
    import difflib

    by_word = {word: rule for rule in CATALOGUE.values() for word in (rule.code.lower(), rule.name)}
    words = difflib.get_close_matches(text.strip().lower(), by_word, n=3)
    return list(dict.fromkeys(by_word[word] for word in words))


ALL = "ALL"


def normalise_selector(text: str) -> str:
    """Return a prefix of codes for a user's selector: ``W1``, ``w101``, a rule's name, ``ALL``.

    Raises ``ValueError`` where it selects nothing.
    """
    upper = text.strip().upper()
    if upper == ALL:
        return ""
    if upper and any(code.startswith(upper) for code in CATALOGUE):
        return upper
    rule = find_rule(text)
    if rule is None:
        raise ValueError(f"no code or name of a rule matches {text!r}")
    return rule.code


@dataclass(frozen=True, slots=True)
class Selection:
    """Prefixes of codes; the longer one wins, and of equal ones ``ignore`` does."""

    select: tuple[str, ...] = ("",)
    ignore: tuple[str, ...] = ()

    def __contains__(self, code: str) -> bool:
        return _longest(self.select, code) > _longest(self.ignore, code)


def _longest(prefixes: Iterable[str], code: str) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)
