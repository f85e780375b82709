"""The grammars that come with the toolkit do what their example files say."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from kbnf_core import AcceptTokenResult, Engine, Vocabulary, check
from kbnf_core.errors import EngineError

FOLDER = Path(__file__).resolve().parents[2] / "grammars"
NAMES = sorted(path.stem for path in FOLDER.glob("*.kbnf"))
FEWEST_EXAMPLES = 8
EOS_PRAGMA = "(* kbnf: finish=eos *)"


@dataclass(frozen=True, slots=True)
class Example:
    """One text of a grammar's example file, and why it is refused (empty: it is taken)."""

    grammar: str
    text: str
    why: str

    @property
    def label(self) -> str:
        """How pytest names it."""
        return f"{self.grammar}: {self.why or self.text[:40]!r}"


def grammar_text(name: str) -> str:
    return (FOLDER / f"{name}.kbnf").read_text(encoding="utf-8")


def examples_of(name: str) -> Iterator[Example]:
    """Yield the examples of grammar ``name``; a file of another shape raises."""
    data = tomllib.loads((FOLDER / f"{name}.examples.toml").read_text(encoding="utf-8"))
    accept, reject = data.pop("accept"), data.pop("reject")
    assert not data, f"unknown keys: {sorted(data)}"
    yield from (Example(name, text, "") for text in accept)
    for item in reject:
        assert item.keys() == {"text", "why"}
        assert item["why"]
        yield Example(name, item["text"], item["why"])


@cache
def engine_for(name: str) -> Engine:
    return Engine(grammar_text(name), Vocabulary.bytes())


def takes(name: str, text: str) -> bool:
    """Tell whether ``text`` as a whole is a text of the grammar, byte for byte."""
    engine = engine_for(name)
    engine.reset()
    finished_at = None
    data = text.encode()
    for index, byte in enumerate(data):
        try:
            result = engine.try_accept_new_bytes(bytes([byte]))
        except EngineError:
            return False
        if result is AcceptTokenResult.Finished:
            finished_at = index
    if EOS_PRAGMA in grammar_text(name):
        return finished_at is None and engine.can_finish()
    return finished_at == len(data) - 1


EXAMPLES = [example for name in NAMES for example in examples_of(name)]


def test_every_example_file_has_a_grammar() -> None:
    stems = {path.name.removesuffix(".examples.toml") for path in FOLDER.glob("*.toml")}
    assert stems == set(NAMES)


def test_there_are_at_least_twelve_grammars() -> None:
    assert len(NAMES) >= 12


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_many_and_different(name: str) -> None:
    examples = [example for example in EXAMPLES if example.grammar == name]
    accepted = {example.text for example in examples if not example.why}
    rejected = {example.text for example in examples if example.why}
    assert len(accepted) >= FEWEST_EXAMPLES
    assert len(rejected) >= FEWEST_EXAMPLES
    assert len(accepted) + len(rejected) == len(examples)
    assert not accepted & rejected


@pytest.mark.parametrize("name", NAMES)
def test_grammar_is_listed_and_explains_itself(name: str) -> None:
    text = grammar_text(name)
    finish = "eos" if EOS_PRAGMA in text else "eager"
    assert text.startswith("(*")
    assert f"\n   Finish: {finish}." in text.partition("*)")[0]
    assert f"({name}.kbnf)" in (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_grammar_is_clean(name: str) -> None:
    assert check(grammar_text(name)) == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.label)
def test_example(example: Example) -> None:
    assert takes(example.grammar, example.text) is (not example.why)
