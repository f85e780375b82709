"""The grammars that come with the toolkit do what their example files say.

Where the standard library reads the same language, it is asked too, about examples with
random edits and, for dates, about every day of a few years.
"""

import ipaddress
import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbnf_core import AcceptTokenResult, Config, Engine, Grammar, Vocabulary, check
from kbnf_core.examples.cases import Example as FileExample
from kbnf_core.examples.cases import examples_path, read_toml
from kbnf_core.text.errors import EngineError
from kbnf_testing.pages import recipe

FOLDER = Path(__file__).resolve().parents[2] / "grammars"
NAMES = sorted(path.stem for path in FOLDER.glob("*.kbnf"))
FEWEST_EXAMPLES = 8
EOS_PRAGMA = "(* kbnf: finish=eos"


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
    """Yield the examples of grammar ``name``; one that is refused says why."""
    file = examples_path(FOLDER / f"{name}.kbnf")
    for example in read_toml(file.read_text(encoding="utf-8"), file.name):
        assert isinstance(example, FileExample)
        assert bool(example.why) is not example.accepted
        yield Example(name, example.data.decode(), example.why)


@cache
def engine_for(name: str) -> Engine:
    return Engine(grammar_text(name), Vocabulary.bytes())


def takes(name: str, text: str) -> bool:
    """Return whether ``text`` as a whole is a text of the grammar, byte for byte."""
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


def test_there_are_at_least_eleven_grammars() -> None:
    assert len(NAMES) >= 11


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


def reads_json(text: str) -> bool:
    """Return whether Python reads ``text`` as JSON; NaN and Infinity, its extensions, aside."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    with suppress(ValueError):
        json.loads(text, parse_constant=refuse)
        return True
    return False


def reads_ip_address(text: str) -> bool:
    """Return whether Python reads ``text`` as an IP address; zones, which we leave out, aside."""
    with suppress(ValueError):
        ipaddress.ip_address(text)
        return "%" not in text
    return False


def is_date(year: int, month: int, day: int) -> bool:
    with suppress(ValueError):
        date(year, month, day)
        return True
    return False


@st.composite
def edited_examples(draw: st.DrawFn, name: str, alphabet: str) -> str:
    """Draw an example of grammar ``name``, a few characters of it replaced, removed or added."""
    text = draw(st.sampled_from([example.text for example in EXAMPLES if example.grammar == name]))
    at = draw(st.integers(0, len(text)))
    removed = draw(st.integers(0, 3))
    inserted = draw(st.text(alphabet, max_size=3))
    return text[:at] + inserted + text[at + removed :]


@pytest.mark.parametrize(
    ("name", "alphabet", "reads"),
    [
        ("json", '{}[],:"\\ 0129eE+-.tu\n\taf', reads_json),
        ("ip_address", "0129af:.", reads_ip_address),
    ],
    ids=["json", "ip_address"],
)
@given(data=st.data())
def test_grammar_agrees_with_the_standard_library(
    name: str, alphabet: str, reads: Callable[[str], bool], data: st.DataObject
) -> None:
    text = data.draw(edited_examples(name, alphabet))
    if name == "json" and reads(text):
        # It has the layouts that are printed, up to 32 blanks a line; numbers may have more digits.
        indent = min(len(text) % 4, 32 // (1 + text.count("[") + text.count("{")))
        text = json.dumps(json.loads(text, parse_int=len, parse_float=len), indent=indent)
    assert takes(name, text) is reads(text)


@pytest.mark.parametrize("year", [1900, 2000, 2023, 2024])
def test_the_recipe_of_dates_takes_exactly_the_days_of_a_year(year: int) -> None:
    grammar = Grammar(recipe("iso_date.kbnf"))
    wrong = [
        (month, day)
        for month, day in itertools.product(range(14), range(33))
        if (grammar.status(f"{year}-{month:02}-{day:02}") == "fits")
        is not is_date(year, month, day)
    ]
    assert wrong == []


@pytest.mark.parametrize("name", NAMES)
def test_finish_mode_is_the_one_the_language_needs(name: str) -> None:
    """Eager finish is right exactly where no text can go on to be another text."""
    engine = Engine(grammar_text(name), Vocabulary.bytes(), Config(finish="eos"))
    goes_on = False
    for example in EXAMPLES:
        if example.grammar == name and not example.why:
            engine.reset()
            engine.try_accept_new_bytes(example.text.encode())
            engine.compute_allowed_token_ids()
            goes_on |= len(engine.get_allowed_token_ids_from_last_computation()) > 1
    assert goes_on is (EOS_PRAGMA in grammar_text(name))
