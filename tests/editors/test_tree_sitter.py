"""The tree-sitter grammar takes what our reader takes, and sees the same words.

``src/parser.c`` is compiled here, so a C compiler is needed, as for the kernel.
"""

import ctypes
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from kbnf_core.kbnf.parsed import Request
from kbnf_core.kbnf.read import Words
from kbnf_core.kbnf.statements import span_of
from kbnf_core.kbnf.tree import Pattern as KbnfPattern
from kbnf_core.kbnf.tree import PatternKind, postorder
from kbnf_core.languages import KBNF
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import Source

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "editors" / "tree-sitter"
COMPILER = shutil.which("cc") or shutil.which("gcc")
FILES = sorted([*(ROOT / "grammars").rglob("*.kbnf"), *(ROOT / "tests/data").rglob("*.kbnf")])
# The parser does not know families of rules yet: its program for generating it is not at hand.
FILES = [path for path in FILES if "@n" not in path.read_text(encoding="utf-8")]
TEXTS = [path.read_bytes().decode() for path in FILES]
SIGNS = "'\"#(){}[]|;,:=?*+-^<>\\ \n0arxé\xa0\u2003\ufeff"

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")


@pytest.fixture(scope="module")
def language(tmp_path_factory: pytest.TempPathFactory) -> Language:
    """Return the compiled grammar."""
    made = tmp_path_factory.mktemp("parser") / "kbnf.so"
    source = FOLDER / "src"
    options = ["-shared", "-fPIC", f"-I{source}", "-o", str(made), str(source / "parser.c")]
    subprocess.run([str(COMPILER), *options], check=True, timeout=100)
    function = ctypes.CDLL(str(made)).tree_sitter_kbnf
    function.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype = ctypes.py_object
    capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return Language(capsule(function(), b"tree_sitter.Language", None))


def parse(language: Language, text: str) -> Tree:
    return Parser(language).parse(text.encode())


def refuses(text: str) -> bool:
    """Return whether our own reader finds errors."""
    found = KBNF.parse(Source(text), Request()).diagnostics
    return any(each.severity.name == "ERROR" for each in found)


def read_words(text: str) -> list[tuple[int, int]]:
    """Return the spans, in bytes, of our reader's words and comments."""
    words = Words(text)
    spans = [span_of(word) for statement in words.statements() for word in statement.words]
    spans += [comment.span for comment in words.comments]
    return sorted(in_bytes(text, *span) for span in spans)


def in_bytes(text: str, start: int, end: int) -> tuple[int, int]:
    return len(text[:start].encode()), len(text[:end].encode())


def leaves(tree: Tree) -> Iterator[tuple[int, int]]:
    """Yield the spans of the words of a tree: a quoted text is one, whatever it holds."""
    left: list[Node] = [*tree.root_node.children]
    while left:
        node = left.pop()
        if node.type == "string" or not node.child_count:
            yield node.start_byte, node.end_byte
        else:
            left += node.children


def changed(text: str, random_: random.Random) -> str:
    """Return a text with something left out or put in."""
    place = random_.randrange(len(text))
    put_in = random_.choice(["", random_.choice(SIGNS)])
    left_out = 0 if put_in else random_.randrange(1, 9)
    return text[:place] + put_in + text[place + left_out :]


@pytest.mark.parametrize("text", TEXTS, ids=[path.stem for path in FILES])
def test_words_are_those_of_the_reader(language: Language, text: str) -> None:
    tree = parse(language, text)
    assert tree.root_node.has_error == refuses(text)
    assert sorted(leaves(tree)) == read_words(text)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_what_the_reader_refuses_is_refused(language: Language, seed: int) -> None:
    random_ = random.Random(seed)
    short = [text for text in TEXTS if len(text) < 2000]
    seen = set[bool]()
    for _ in range(200 if seed == 1 else 5000):
        text = changed(random_.choice(short), random_)
        tree, refused = parse(language, text), refuses(text)
        seen.add(refused)
        assert tree.root_node.has_error == refused, text
        assert refused or sorted(leaves(tree)) == read_words(text), text
    assert seen == {True, False}


@pytest.mark.parametrize("text", TEXTS, ids=[path.stem for path in FILES])
def test_highlights_are_those_of_the_reader(language: Language, text: str) -> None:
    query = Query(language, (FOLDER / "queries/highlights.scm").read_text(encoding="utf-8"))
    seen = {
        name: sorted((node.start_byte, node.end_byte) for node in nodes)
        for name, nodes in QueryCursor(query).captures(parse(language, text).root_node).items()
    }
    source = Source(text)
    outline = KBNF.outline(source, DEFAULT_LIMITS)
    document = KBNF.parse(source, Request()).document
    nodes = [node for each in document.definitions for node in postorder(each.body)]
    patterns = [
        node.span
        for node in nodes
        if isinstance(node, KbnfPattern) and node.kind is not PatternKind.SUBSTRINGS
    ]
    expected = {
        "function": [each.span for each in outline.definitions],
        "variable": [each.span for each in outline.uses],
        "comment": [each.span for each in document.comments],
    }
    for name, spans in expected.items():
        assert seen.get(name, []) == sorted(in_bytes(text, *span) for span in spans), name
    # The mark in front of a pattern is a keyword, but for a raw one.
    ends = sorted(in_bytes(text, *span)[1] for span in patterns)
    assert [end for _, end in seen.get("string.regexp", [])] == ends
