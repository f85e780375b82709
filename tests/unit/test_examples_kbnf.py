"""All examples of spec/examples-kbnf.jsonl, with the answers given there."""

import json
from typing import Any

import pytest

from kbnf_core import Engine
from kbnf_core.text.errors import EmptyGrammarError, GrammarError
from kbnf_testing import subject
from kbnf_testing.data import SPEC
from kbnf_testing.vocabulary import Tokens
from kbnf_testing.walk import Outcome

EXAMPLES = SPEC / "examples-kbnf.jsonl"
_LINES = EXAMPLES.read_text(encoding="utf-8").splitlines()
_FINISH = {"byte": "eager", "token": "token"}
# The kinds of refusal, as the families of our codes: text and regex syntax; names and regexes.
_CODES = {"parse": ("E0", "E20"), "semantic": ("E10", "E20"), "empty": ("E105",)}


def _name(example: dict[str, Any]) -> str:
    return str(example["note"])


_ALL = [json.loads(line) for line in _LINES]
# What an `except!` excludes may be under other names here, as the crate's description says.
_WIDENED = [example for example in _ALL if "indirection is an error" in example["note"]]
_REFUSED = [
    example for example in _ALL if "create_error" in example["expect"] and example not in _WIDENED
]
_WALKED = [example for example in _ALL if "create_error" not in example["expect"]]


def test_every_example_is_used() -> None:
    assert len(_ALL) == 38
    assert all("initial" in example["expect"] for example in _WALKED)


@pytest.mark.parametrize("example", _WALKED, ids=_name)
def test_walk(example: dict[str, Any]) -> None:
    engine = subject.engine_of(example["grammar"], _tokens(example), _FINISH[example["eager"]])
    assert subject.allowed(engine) == example["expect"]["initial"]
    steps = example["expect"]["steps"]
    assert len(steps) == len(example["tokens"])
    for token, step in zip(example["tokens"], steps, strict=True):
        assert token == step["token"]
        assert _offer(engine, token) is Outcome(step["result"])
        assert subject.allowed(engine) == step["allowed"]


def _offer(engine: Engine, token: int | str) -> Outcome:
    if isinstance(token, str):
        return subject.offer_bytes(engine, token.encode("latin-1"))
    return subject.offer(engine, token)


@pytest.mark.parametrize("example", _REFUSED, ids=_name)
def test_refused(example: dict[str, Any]) -> None:
    kind = example["expect"]["create_error"]
    with pytest.raises(EmptyGrammarError if kind == "empty" else GrammarError) as caught:
        subject.engine_of(example["grammar"], _tokens(example), _FINISH[example["eager"]])
    codes = subject.error_codes(caught.value)
    assert codes
    assert all(code.startswith(_CODES[kind]) for code in codes)


def test_what_is_refused_there_alone() -> None:
    (example,) = _WIDENED
    engine = subject.engine_of(example["grammar"], _tokens(example), _FINISH[example["eager"]])
    excluded = {token for token, data in _tokens(example).ordinary.items() if b"A" in data}
    assert excluded
    assert not excluded & set(subject.allowed(engine))


def _tokens(example: dict[str, Any]) -> Tokens:
    spelled = example["vocab"].items()
    return Tokens({int(token_id): text.encode("latin-1") for token_id, text in spelled})
