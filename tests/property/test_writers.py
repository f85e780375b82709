"""Every language written in every other: it is read back as the same, or the losses say why not.

Sources are random, with the names that only their language has. What is written is read by our own
reader, and by another program that reads the target, and compared: by proof (`kbnf_core.diff`), and
by texts of the source and texts like them.
"""

from collections.abc import Callable, Iterator
from random import Random

import pytest

from kbnf_core import Engine, Grammar, GrammarError
from kbnf_core.convert import convert
from kbnf_core.diff import Relation, compare
from kbnf_core.examples.sampling import sample_texts
from kbnf_core.languages import GBNF, LANGUAGES, LARK, Language
from kbnf_testing.lark_peers import lark_accepts, llguidance_accepts
from kbnf_testing.membership import BYTES
from kbnf_testing.membership import Language as Texts
from kbnf_testing.samples import seeds
from kbnf_testing.sources import SOURCES

TARGETS = [each for each in LANGUAGES if each.is_target]
PAIRS = [
    pytest.param(source, target, id=f"{source.name}-{target.name}")
    for source in LANGUAGES
    for target in TARGETS
    if source is not target
]
WORK = 8_000


def test_every_language_has_sources() -> None:
    assert SOURCES.keys() == set(LANGUAGES)


@pytest.mark.parametrize("seed", seeds(200, 2, 20))
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_what_is_written_is_read_as_the_same(source: Language, target: Language, seed: int) -> None:
    random = Random(f"{seed}: {source.name}")
    text = SOURCES[source](random)
    try:
        original = Grammar.read(text, source, lossy=True)
    except GrammarError:
        with pytest.raises(GrammarError):
            convert(text, source, target)
        return
    try:
        written = convert(text, source, target)
    except GrammarError as error:
        # Nothing is kept, and what was lost is said; or what never ends loops before a dead end.
        first, *lost = error.diagnostics
        if first.code == "E105" and (lost or original.reading.is_endless):
            return
        raise
    back = Grammar.read(written.text, target)
    relation = compare(original, back, WORK).relation
    assert not written.exact or relation in (Relation.EQUAL, Relation.UNKNOWN), (text, written.text)
    ours = Texts(back)
    for accepts in () if back.reading.is_endless else _peers(target, written.text):
        for each in _texts(original, random):
            assert accepts(each) == ours.has(each), (text, written.text, each)


def _peers(target: Language, text: str) -> Iterator[Callable[[str], bool]]:
    """Yield what other programs say of whole texts; they read what we write."""
    if target is LARK:
        pytest.importorskip("llguidance", reason="the peer is an extra of the tests")
        yield llguidance_accepts(text)
        if not text.startswith("%llguidance"):
            yield lark_accepts(text, "earley")
    if target is GBNF:
        xgrammar = pytest.importorskip("xgrammar", reason="the peer is an extra of the tests")
        grammar = xgrammar.Grammar.from_ebnf(text)
        yield lambda each: bool(xgrammar.testing._is_grammar_accept_string(grammar, each))


def _texts(grammar: Grammar, random: Random) -> list[str]:
    """Return some texts of a grammar, and each with a character lost, doubled or changed."""
    drawn = sample_texts(Engine(grammar, BYTES), 6, random.randrange(1_000), 8).texts
    texts = [each.decode() for each in drawn if _is_text(each)]
    return [*texts, *(_spoiled(each, random) for each in texts)]


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def _spoiled(text: str, random: Random) -> str:
    place = random.randrange(len(text)) if text else 0
    char = text[place : place + 1]
    return text[:place] + random.choice(("", char * 2, "x", "é")) + text[place + 1 :]
