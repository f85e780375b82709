"""What is written as Lark reads back, without an option, to the same language."""

import re
from collections import Counter
from pathlib import Path

import pytest

from kbnf_core import Grammar, GrammarError
from kbnf_core.convert import to_lark
from kbnf_core.diff import Relation, compare
from kbnf_core.languages import LARK
from kbnf_testing.pages import documentation

ROOT = Path(__file__).resolve().parents[4]
EOS = "(* kbnf: finish=eos *)\n"
MARK = "%llguidance {}\n"

BOTH = [
    r"""start ::= #r'[^"\\\x00-\x1F]' start | 'a';""",
    r"start ::= 'if' #'[a-z]'+ ('\b' | '/')*;",
    r"""start ::= #r'[\u{1F600}-\u{1F64F}]' '\\' '"' '\x7f';""",
]
"""Grammars that Lark and LLGuidance say alike."""

MARKED = [
    "start ::= #'a+' 'b';",
    "start ::= 'a'{2,3} ['b'];",
    "start ::= ('a' | '') 'b';",
    "start ::= x 'b' x; x ::= 'a' | 'aa';",
    r"start ::= #r'[^\x{0}]+' #r'\u{1F600}?' 'a';",
    "start ::= #token[1-5] 'a';",
]

ONLY_ONE_ENGINE = {"c_subset", "sql", "recipes-5"}
"""Those whose proof takes more work than a test has: of Chinese, 5,000,000 steps are too few."""
LARGE = {"python", "yaml"}
"""Those of more lexemes than our reader tells apart within `Limits.work`."""
LOSSY = {"markdown_code_block", "gbnf-0", "reasoned_answer"}
"""Those of bytes that are no UTF-8, or of a part that is too large."""


def shipped() -> dict[str, str]:
    return {
        path.stem: path.read_text("utf-8") for path in sorted((ROOT / "grammars").glob("*.kbnf"))
    }


def documented() -> dict[str, str]:
    return blocks_of([*documentation(), ROOT / "README.md"])


def blocks_of(pages: list[Path]) -> dict[str, str]:
    found = {}
    for page in pages:
        blocks = re.findall(
            r"^```kbnf[^\n]*\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
        )
        found.update({f"{page.stem}-{n}": text for n, text in enumerate(blocks)})
    return found


def _eos(text: str) -> str:
    return text if "finish=" in text else EOS + text


def _grammar(text: str) -> Grammar | None:
    try:
        return Grammar(_eos(text), finish="eos")
    except GrammarError:
        return None


GRAMMARS = {
    name: text
    for name, text in (shipped() | documented()).items()
    if name not in ONLY_ONE_ENGINE | LARGE | LOSSY and _grammar(text) is not None
}


def assert_reads_back(text: str) -> str:
    written = to_lark(_eos(text))
    before, after = _grammar(text), Grammar.read(written.text, LARK, finish="eos")
    assert before is not None
    assert written.exact
    assert compare(before, after).relation is Relation.EQUAL
    return written.text


@pytest.mark.parametrize("name", GRAMMARS)
def test_shipped_and_documented_grammars_read_back(name: str) -> None:
    assert_reads_back(GRAMMARS[name])


@pytest.mark.slow
def test_grammars_on_pages_of_findings_read_back() -> None:
    counts: Counter[str] = Counter()
    for text in blocks_of(sorted((ROOT / "core").rglob("*.md"))).values():
        if _grammar(text) is None:
            continue
        try:
            written = to_lark(_eos(text))
        except GrammarError:
            counts["refused"] += 1
            continue
        if written.exact:
            assert_reads_back(text)
        assert written.exact or written.losses
        counts["equal" if written.exact else "lossy"] += 1
    assert counts["equal"] > 90
    assert counts["equal"] > 5 * (counts["lossy"] + counts["refused"])


def test_grammars_are_found_on_pages() -> None:
    assert len(documented()) >= 7


@pytest.mark.parametrize("text", MARKED)
def test_what_lark_reads_otherwise_is_marked(text: str) -> None:
    assert assert_reads_back(text).startswith(MARK)


@pytest.mark.parametrize("text", BOTH)
def test_what_both_read_alike_is_not(text: str) -> None:
    import lark

    written = assert_reads_back(text)
    assert not written.startswith(MARK)
    lark.Lark(written)
    again = Grammar.read(MARK + written, LARK, finish="eos")
    before = _grammar(text)
    assert before is not None
    assert compare(before, again).relation is Relation.EQUAL


@pytest.mark.parametrize(
    "text",
    [
        'start: ("if" | NAME)+\nNAME: /[a-z]+/\n%ignore " "\n',
        'start: "a" /[\\x00-\\x1f]/ x?\nx: "b"~2\n',
    ],
)
def test_from_lark_to_lark_and_back(text: str) -> None:
    from kbnf_core.convert import from_lark

    assert_reads_back(from_lark(text).text)


def test_a_grammar_of_which_lark_can_say_no_text_is_refused() -> None:
    with pytest.raises(GrammarError, match="E105"):
        to_lark(EOS + r"start ::= #b'\xff';")


@pytest.mark.parametrize(
    ("most", "why"),
    [
        (
            4_000,
            "this part has 35,984 states; in Lark each would be a rule, and there may be 5,000",
        ),
        (65_000, "the texts of this part take more than 200000 states"),
    ],
)
def test_any_text_is_taken_for_a_part_of_too_many_states(most: int, why: str) -> None:
    part = f"except!('ab', {most})"
    text = f"start ::= {part} '\\n';"
    conversion = to_lark(text)
    (lost,) = [loss for loss in conversion.losses if loss.code == "W404"]
    assert text[lost.span.start : lost.span.end] == part
    assert lost.message == f"{why}; any text is taken instead"
    grammar = Grammar.from_lark(conversion.text)
    for word in ("\n", "a\n", "ab\n", "é" * 99 + "\n"):
        assert grammar.status(word) == "fits", word
    assert grammar.status("ab") == "cut"


@pytest.mark.parametrize("written", [r"\x{0}", r"\u{10}", r"\U1", r"\u12"])
def test_an_escape_that_lark_has_not_is_named(written: str) -> None:
    with pytest.raises(GrammarError) as raised:
        Grammar.read(f"start: /[{written}]/", LARK, options={"lexing": "earley"})
    (found,) = raised.value.diagnostics
    assert (found.code, found.message) == (
        "E007",
        f"`{written}` is not an escape that Lark reads: it has those of Python",
    )
