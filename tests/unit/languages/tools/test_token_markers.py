"""Markers of formats that are tokens: in masks, texts, readers, stores and artifacts."""

import re
from collections.abc import Iterable, Iterator
from copy import copy
from pathlib import Path
from random import Random

import pytest

from kbnf_core import Engine, Grammar, Vocabulary, compile_artifact, load_artifact
from kbnf_core.languages import TOOL_LIST
from kbnf_core.languages.structural_tag.models import (
    format_named,
    marker_texts,
    table,
    token_markers,
)
from kbnf_core.languages.tools.parse import tag_of_text
from kbnf_core.parse.messages import MessageReader
from kbnf_core.store.keys import recipe_of
from kbnf_core.text.errors import ConfigError, RejectedError, VocabularyError
from kbnf_testing.call_formats import EXAMPLES
from kbnf_testing.real_vocabulary import real_vocabulary

ARGUMENTS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
TOOLS = [{"name": "get_weather", "parameters": ARGUMENTS}]
CALL = {"name": "get_weather", "arguments": {"city": "Paris"}}

BYTES = {value: bytes([value]) for value in range(256)}
MARKERS = ("<tool_call>", "</tool_call>", "<think>", "</think>", '<|"|>', "<|tool_call>",
           "<tool_call|>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>")  # fmt: skip
SPECIAL = Vocabulary(
    BYTES, special_tokens={name: 256 + i for i, name in enumerate([*MARKERS, "<|im_end|>"])},
    eos_token_id=256 + len(MARKERS),
)  # fmt: skip
ORDINARY = Vocabulary(
    {**BYTES, **{256 + number: name.encode() for number, name in enumerate(MARKERS)}},
    special_tokens={"<|im_end|>": 500},
    eos_token_id=500,
)


def tokens_of(text: str, vocabulary: Vocabulary, rng: Random) -> Iterator[int]:
    """Yield the tokens of a text: markers, and random ones of at most four characters between."""
    ids = {name: known for name, known in vocabulary.special_tokens.items() if known in vocabulary}
    ids |= {each: min(vocabulary.token_ids(each.encode()), default=-1) for each in MARKERS
            if vocabulary.token_ids(each.encode())}  # fmt: skip
    marker = re.compile(f"({'|'.join(map(re.escape, sorted(ids, key=len, reverse=True)))})")
    for piece in filter(None, marker.split(text)):
        if piece in ids:
            yield ids[piece]
            continue
        data, at = piece.encode(), 0
        while at < len(data):
            sizes = [size for size in (4, 3, 2, 1) if vocabulary.token_ids(data[at : at + size])]
            size = rng.choice(sizes)
            yield min(vocabulary.token_ids(data[at : at + size]))
            at += size


def allowed_in(engine: Engine) -> set[int]:
    engine.compute_allowed_token_ids()
    return {*engine.get_allowed_token_ids_from_last_computation()}


def judged(engine: Engine, rng: Random) -> None:
    """Compare a mask with what is accepted: special tokens, beginnings of markers, and others."""
    vocabulary = engine.vocabulary
    allowed = allowed_in(engine)
    asked = {*vocabulary.special_ids, *rng.sample([*vocabulary.tokens], 40)}
    asked |= {each for sign in b"<[" for each in vocabulary.token_ids(bytes([sign]))}
    for each in sorted(asked - vocabulary.eos_token_ids):
        twin = copy(engine)
        try:
            twin.try_accept_new_token(each)
        except RejectedError:
            assert each not in allowed, each
        else:
            assert each in allowed, each


FORMATS = [("mistral", "tekken"), ("mistral_v3", "tekken"), ("qwen_3", "special"),
           ("qwen_3", "ordinary"), ("glm_4_5", "special"), ("gemma_4", "special"),
           ("qwen_3_coder", "ordinary")]  # fmt: skip
OWN = [(name, "own") for name in table() if name not in ("llama", "llama_4")]
LEADS = {"minimax": "\n</think>\n\n\n\n", "harmony": ""}
"""What is ahead of the calls in a format that has no free text there."""


def special(marks: Iterable[str]) -> Vocabulary:
    ids = {each: 256 + number for number, each in enumerate([*sorted(marks), "<eos>"])}
    return Vocabulary(BYTES, special_tokens=ids, eos_token_id=ids["<eos>"])


def vocabulary_of(kind: str, name: str) -> Vocabulary:
    """Return a vocabulary; ``own`` has the markers of a format as special tokens."""
    if kind == "own":
        found = format_named(name)
        marks = {*marker_texts(found), *_MARKER.findall(EXAMPLES[name])}
        return special(token_markers(found, special(marks)))
    return {"special": SPECIAL, "ordinary": ORDINARY}.get(kind) or real_vocabulary()


_MARKER = re.compile(r"\]<\]minimax\[>\[|<[｜|][^<>]+[｜|]>|</?[a-z_]+>|\[[A-Z_]+\]")


@pytest.mark.parametrize(("name", "kind"), [*FORMATS, *OWN])
def test_calls_are_written_with_tokens_and_masks_are_what_is_accepted(name: str, kind: str) -> None:
    vocabulary, rng = vocabulary_of(kind, name), Random(name)
    markers = token_markers(format_named(name), vocabulary)
    assert markers
    grammar = Grammar.from_tools(TOOLS, tool_calls=name, token_markers=vocabulary)
    engine, reader = Engine(grammar, vocabulary), grammar.value_reader(vocabulary)
    text = LEADS.get(name, "Hi ") + EXAMPLES[name]
    for number, token in enumerate(tokens_of(text, vocabulary, rng)):
        if number % 3 == 0:
            judged(engine, rng)
        engine.try_accept_new_token(token)
        reader.feed(token)
    assert engine.can_finish()
    reader.finish()
    assert isinstance(reader, MessageReader)
    assert reader.value[-1] == CALL
    assert not reader.tolerated


@pytest.mark.parametrize(("name", "kind"), FORMATS)
def test_no_marker_is_spelled_in_pieces(name: str, kind: str) -> None:
    vocabulary = vocabulary_of(kind, name)
    grammar = Grammar.from_tools(TOOLS, tool_calls=name, token_markers=vocabulary)
    begun = next(each for each in token_markers(format_named(name), vocabulary)
                 if EXAMPLES[name].startswith(each))  # fmt: skip
    engine = Engine(grammar, vocabulary)
    for byte in begun.encode()[:-1]:
        engine.try_accept_new_bytes(bytes([byte]))
    with pytest.raises(RejectedError):
        engine.try_accept_new_bytes(begun.encode()[-1:])
    required = Grammar.from_tools(
        TOOLS, tool_calls=name, tool_choice="required", token_markers=vocabulary
    )
    first = allowed_in(Engine(required, vocabulary))
    ids = {vocabulary.special_tokens.get(begun), *vocabulary.token_ids(begun.encode())}
    # Blanks may be ahead in some formats.
    assert first - {ord("\n")} == ids - {None}


@pytest.mark.parametrize("name", table())
def test_texts_are_read_as_without_markers(name: str) -> None:
    plain = Grammar.from_tools(TOOLS, tool_calls=name)
    grammar = Grammar.from_tools(TOOLS, tool_calls=name, token_markers=SPECIAL)
    text = EXAMPLES[name]
    for each in (text, text[:-3], "Hi", f"{text}{text}"):
        assert grammar.status(each) == plain.status(each)
        assert grammar.read_value(each) == plain.read_value(each)
    assert grammar.of_texts.to_kbnf() == plain.to_kbnf()
    assert grammar.of_texts.of_texts is grammar.of_texts


def test_a_marker_in_a_string_of_json_is_text() -> None:
    grammar = Grammar.from_tools(TOOLS, tool_calls="qwen_3", token_markers=SPECIAL)
    engine = Engine(grammar, SPECIAL)
    engine.try_accept_new_token(256)
    engine.try_accept_new_bytes(
        b'\n{"name": "get_weather", "arguments": {"city": "<tool_call>"}}\n'
    )
    engine.try_accept_new_token(257)
    assert engine.can_finish()


def test_an_artifact_and_a_store_name_the_vocabulary(tmp_path: Path) -> None:
    grammar = Grammar.from_tools(TOOLS, tool_calls="qwen_3", token_markers=SPECIAL)
    path = tmp_path / "calls.kbnfc"
    compile_artifact(grammar, SPECIAL, path)
    loaded = load_artifact(path)
    assert 256 in allowed_in(Engine(loaded, SPECIAL))
    for each in (loaded, grammar):
        with pytest.raises(VocabularyError):
            Engine(each, ORDINARY)
    text = TOOL_LIST.text_of(TOOLS)
    recipes = [
        recipe_of(text, language="Tool list", tool_calls="qwen_3", token_markers=markers)
        for markers in (True, None)
    ]
    assert [each.uses_vocabulary for each in recipes] == [True, False]
    assert recipes[0].key(SPECIAL.fingerprint) != recipes[0].key(ORDINARY.fingerprint)
    made = recipes[0].read_by(Grammar.read, SPECIAL)
    assert made.to_kbnf() == grammar.to_kbnf()


def test_a_tag_in_a_request_uses_its_vocabulary() -> None:
    tag = {"type": "structural_tag", "format": {"type": "token", "token": "<think>"}}
    text = TOOL_LIST.text_of({"messages": [], "tools": [], "response_format": tag})
    assert TOOL_LIST.uses_vocabulary(text, {})
    assert not TOOL_LIST.uses_vocabulary(TOOL_LIST.text_of(TOOLS), {})


def test_markers_need_a_format_and_a_vocabulary() -> None:
    with pytest.raises(ConfigError, match="`token_markers` is for `tool_calls`"):
        Grammar.from_tools(TOOLS, token_markers=SPECIAL)
    with pytest.raises(ConfigError, match="`token_markers` needs a vocabulary"):
        Grammar.from_tools(TOOLS, tool_calls="qwen_3", token_markers=True)
    options = {"tool_calls": "qwen_3", "token_markers": True}
    with pytest.raises(ConfigError, match="leave `token_markers` out"):
        tag_of_text(TOOL_LIST.text_of(TOOLS), options)
