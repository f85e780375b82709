"""A fixed grammar checks clean of what was fixed, keeps its language and its comments."""

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from kbnf_core import Engine, Vocabulary, check
from kbnf_core.convert import from_gbnf
from kbnf_core.lint.check import fix_text
from kbnf_core.text.errors import EngineError, GrammarError

VOCABULARY = Vocabulary.bytes()

PARTS = st.sampled_from(
    [
        *("'a'", "'b'", "more", "list", "#'[ab]'", "('a'?)*", "('b'*)+", "{['a']}", "'\\x62'"),
        *("(* c *)", "('a' | 'b' | 'a')", "('a' (* d *) | 'a')", "'a'?", "#'a\\b|b'", "'\\xe9'"),
    ]
)
SEQUENCES = st.lists(PARTS, min_size=1, max_size=3).map(" ".join)
BODIES = st.lists(SEQUENCES, min_size=1, max_size=3).map(" | ".join)
LISTS = st.sampled_from(
    [
        *("'a' list | 'a'", "'a' 'b' list | 'a'", "'a'? list | ''", "more list | more"),
        *("'a' (* e *) list | 'a'", "'a' | 'b' | 'a'", "list 'a' | 'a'"),
    ]
)
END = st.sampled_from([";", "", "; (* end *)"])
GRAMMARS = st.builds(
    "(* kbnf: finish=eos *)\nstart ::= {};\nmore = {};\nlist ::= {}{}\n".format,
    BODIES,
    BODIES,
    LISTS,
    END,
)
TEXTS = st.lists(st.text("ab\u00e9\b", max_size=6).map(str.encode), min_size=1, max_size=12)


@given(GRAMMARS, TEXTS)
def test_safe_fixes_keep_the_language(grammar: str, texts: list[bytes]) -> None:
    fixed = fix_text(grammar, check)
    before, after = _engine(grammar), _engine(fixed.text)
    if before is None or after is None:
        # What has errors has no language to keep; but fixing must not bring errors in.
        assert before is None
        return
    for text in texts:
        assert _takes(before, text) == _takes(after, text)


@given(GRAMMARS)
def test_fixed_grammars_are_clean_of_what_was_fixed(grammar: str) -> None:
    fixed = fix_text(grammar, check)
    again = fix_text(fixed.text, check)
    assert again.text == fixed.text
    assert again.applied == ()


@given(GRAMMARS, st.booleans())
def test_comments_stay(grammar: str, unsafe: bool) -> None:
    fixed = fix_text(grammar, check, unsafe=unsafe)
    assert fixed.text.count("(*") == grammar.count("(*")


def test_unsafe_fixes_are_made_when_wanted() -> None:
    fix = partial(fix_text, "start ::= ' '* '.';", check)
    assert fix().text == "start ::= ' '* '.';"
    assert fix(unsafe=True).text == "start ::= ' '{0,16} '.';"


def _engine(grammar: str) -> Engine | None:
    try:
        return Engine(grammar, VOCABULARY)
    except GrammarError:
        return None


def _takes(engine: Engine, text: bytes) -> bool:
    engine.reset()
    try:
        engine.try_accept_new_bytes(text)
    except EngineError:
        return False
    return engine.can_finish()


GBNF_PARTS = st.sampled_from(
    [
        *('"a"', '"b"', "more", "list", "[ab]", '("a"?)*', '("b"*)+', '("a" | "b" | "a")'),
        *('(("a" | "b")?)*', '"a"?', '("a" "b"?)+', "[ab]*"),
    ]
)
GBNF_BODIES = st.lists(
    st.lists(GBNF_PARTS, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=3
).map(" | ".join)
GBNF_LISTS = st.sampled_from(['"a" list | "a"', '"a" "b" list | "a"', '"a" list | ""'])
GBNF_GRAMMARS = st.builds(
    "root ::= {} # one\nmore ::= {}\n# two\nlist ::= {}\n".format,
    GBNF_BODIES,
    GBNF_BODIES.filter(lambda body: "more" not in body),
    GBNF_LISTS,
)


@given(GBNF_GRAMMARS, TEXTS)
def test_safe_fixes_of_gbnf_keep_the_language_and_comments(gbnf: str, texts: list[bytes]) -> None:
    fixed = fix_text(gbnf, lambda text: check(text, "a.gbnf"))
    before, after = _engine(from_gbnf(gbnf).text), _engine(from_gbnf(fixed.text).text)
    assert (before is None) == (after is None)
    if before is not None and after is not None:
        for text in texts:
            assert _takes(before, text) == _takes(after, text)
    assert "# one" in fixed.text
    assert "# two" in fixed.text
