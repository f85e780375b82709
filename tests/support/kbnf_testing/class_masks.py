"""Compares masks with acceptance, token by token, along texts of class grammars.

    PYTHONPATH=tests/support python -m kbnf_testing.class_masks --masks 100000 --seed 1

compares that many masks over a real vocabulary, and ends with the first difference.
"""

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Protocol

import numpy as np
import regex

from kbnf_core import Engine, Grammar, Vocabulary, compile_artifact, load_artifact
from kbnf_core.device import TableTooLargeError, TokenTable
from kbnf_core.text.errors import GrammarError
from kbnf_testing.acceptance import (
    DEAD,
    FINISHES,
    START,
    Acceptance,
    Flags,
    Prefixes,
    TooManyPlacesError,
    accepted_by,
    mask_of,
    spelled,
)
from kbnf_testing.class_grammars import ClassGrammar, class_grammar
from kbnf_testing.real_vocabulary import real_vocabulary

TEXTS = 2
"""Texts of a grammar in each way to finish."""

STEPS = (1, 2, 3, 5)
"""Places of a text."""

ASKED = 6
"""Tokens of each mask, allowed ones and others, that the engine and ``regex`` are asked about."""

PREPARED = 200_000
"""Counted work of ``Engine.prepare``: some masks, not all."""

MOST_STATES = 2_000
"""States of a device table; grammars with more have none."""

Step = int | bytes
"""A token, or bytes that end within one."""


class Subject(Protocol):
    """What allows tokens, and goes on with them."""

    def begin(self) -> None:
        """Go to the beginning."""

    def allowed(self) -> Flags:
        """Return the tokens that it allows."""

    def accept(self, step: Step) -> None:
        """Go on."""


@dataclass(frozen=True, slots=True)
class EngineMasks:
    """The masks of an engine."""

    engine: Engine

    def begin(self) -> None:
        """See ``Subject``."""
        self.engine.reset()

    def allowed(self) -> Flags:
        """See ``Subject``."""
        return mask_of(self.engine)

    def accept(self, step: Step) -> None:
        """See ``Subject``."""
        if isinstance(step, bytes):
            self.engine.try_accept_new_bytes(step)
        else:
            self.engine.try_accept_new_token(step)


@dataclass(slots=True)
class TableRows:
    """The rows of a device table, which knows no bytes."""

    table: TokenTable
    row: int = DEAD

    def begin(self) -> None:
        """See ``Subject``."""
        self.row = self.table.initial

    def allowed(self) -> Flags:
        """See ``Subject``."""
        flags: Flags = (self.table.transitions[self.row] != DEAD)[self.table.token_class]
        return flags

    def accept(self, step: Step) -> None:
        """See ``Subject``."""
        assert not isinstance(step, bytes)
        self.row = int(self.table.transitions[self.row, self.table.token_class[step]])


class ClassMasks:
    """Compares over one vocabulary; ``compared``: the masks so far."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.compared = 0
        self._vocabulary = vocabulary
        self._prefixes = Prefixes(vocabulary)

    def compare_engines(self, random: Random) -> None:
        """Compare the masks of engines over one random grammar."""
        sample, grammar = _draw(random)
        texts = _Texts(sample, self._prefixes, random.random())
        with suppress(TooManyPlacesError):
            for finish in FINISHES:
                engine = Engine(grammar, self._vocabulary, finish=finish)
                texts.follow(finish, [EngineMasks(engine)])
        self.compared += texts.compared

    def compare_made_ahead(self, random: Random, folder: Path) -> None:
        """Compare artifacts, prepared engines and device tables over one random grammar."""
        sample, grammar = _draw(random)
        texts = _Texts(sample, self._prefixes, random.random(), only_tokens=True)
        with suppress(TooManyPlacesError):
            for finish in FINISHES:
                engine = Engine(grammar, self._vocabulary, finish=finish)
                texts.follow(finish, [EngineMasks(engine)])
                compile_artifact(grammar, None, folder / "artifact")
                stored = Engine(load_artifact(folder / "artifact"), self._vocabulary, finish=finish)
                prepared = Engine(Grammar(sample.text), self._vocabulary, finish=finish)
                prepared.prepare(PREPARED)
                subjects: list[Subject] = [EngineMasks(stored), EngineMasks(prepared)]
                texts.follow(finish, [*subjects, *self._tables(grammar, finish)])
        self.compared += texts.compared

    def _tables(self, grammar: Grammar, finish: str) -> list[TableRows]:
        try:
            return [TableRows(TokenTable.build(grammar, self._vocabulary, finish, MOST_STATES))]
        except TableTooLargeError:
            return []


def _draw(random: Random) -> tuple[ClassGrammar, Grammar]:
    while True:
        sample = class_grammar(random)
        try:
            grammar = Grammar(sample.text)
            grammar.tables  # noqa: B018 - built here
        except GrammarError:
            # Too many states, too much work, or nothing but the empty text.
            continue
        return sample, grammar


class _Texts:
    """Random texts of one grammar: the same ones each time, for each way to finish."""

    def __init__(
        self, sample: ClassGrammar, prefixes: Prefixes, seed: float, *, only_tokens: bool = False
    ) -> None:
        self.compared = 0
        self._sample = sample
        self._vocabulary = prefixes.vocabulary
        self._acceptance = Acceptance(Grammar(sample.text), prefixes)
        self._pattern = regex.compile(sample.pattern) if sample.pattern is not None else None
        self._seed = seed
        self._only_tokens = only_tokens

    def follow(self, finish: str, subjects: Sequence[Subject]) -> None:
        """Go along the texts with some subjects, and compare what they allow."""
        random = Random(f"{self._seed} {finish}")
        for _ in range(TEXTS):
            self._follow(random, finish, subjects)

    def _follow(self, random: Random, finish: str, subjects: Sequence[Subject]) -> None:
        place, text = START, b""
        for subject in subjects:
            subject.begin()
        for _ in range(random.choice(STEPS)):
            flags = self._acceptance.allowed(place, finish)
            step = self._step(random, flags)
            asked = self._asked(random, flags)
            where = f"{self._sample.text}\nfinish={finish} after {text!r}"
            for subject in subjects:
                self._compare(subject, flags, where)
                if isinstance(subject, EngineMasks):
                    wanted = [token_id for token_id in asked if flags[token_id]]
                    assert accepted_by(subject.engine, asked) == wanted, where
            self._ask_the_pattern(asked, flags, text, finish)
            if step is None:
                return
            for subject in subjects:
                subject.accept(step)
            data = step if isinstance(step, bytes) else self._vocabulary.tokens[step]
            place, text = self._acceptance.after(place, data), text + data
            if finish != "eos" and self._acceptance.is_complete(place):
                return

    def _compare(self, subject: Subject, flags: Flags, where: str) -> None:
        self.compared += 1
        mask = subject.allowed()
        if (mask != flags).any():
            lacking, more = (
                spelled(each, self._vocabulary) for each in (flags & ~mask, mask & ~flags)
            )
            name = type(subject).__name__
            raise AssertionError(f"{where}\n{name} lacks {lacking}; has beside them {more}")

    def _step(self, random: Random, flags: Flags) -> Step | None:
        """Return how a text may go on; None where nothing but its end can come."""
        ids = [each for each in _some(random, flags) if each in self._vocabulary.tokens]
        if not ids:
            return None
        data = self._vocabulary.tokens[ids[0]]
        if self._only_tokens or len(data) == 1 or random.random() < 0.6:
            return ids[0]
        return data[: random.randrange(1, len(data))]

    def _asked(self, random: Random, flags: Flags) -> list[int]:
        return sorted(
            {*_some(random, flags), *_some(random, ~flags)} & self._vocabulary.tokens.keys()
        )

    def _ask_the_pattern(self, ids: Sequence[int], flags: Flags, text: bytes, finish: str) -> None:
        pattern = self._pattern
        if pattern is None:
            return
        for token_id in ids:
            # Refused, it may be one that goes on after a complete text.
            if flags[token_id] or finish != "eager":
                data = text + self._vocabulary.tokens[token_id]
                assert _begins(pattern, data) in (None, flags[token_id]), (self._sample, data)


def _some(random: Random, flags: Flags) -> list[int]:
    ids = np.flatnonzero(flags)
    return [int(ids[random.randrange(len(ids))]) for _ in range(ASKED if len(ids) else 0)]


def _begins(pattern: "regex.Pattern[str]", data: bytes) -> bool | None:
    """Return whether a match begins with these bytes; None where it would take long to find out."""
    try:
        return pattern.fullmatch(data.decode(), partial=True) is not None
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return False
    ends = [data + bytes([byte]) for byte in range(0x80, 0xC0)]
    whole = [end for end in ends if _is_text(end)]
    if not whole:
        return None
    return any(pattern.fullmatch(end.decode(), partial=True) is not None for end in whole)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def main() -> None:
    """Compare as many masks as are asked for."""
    parser = argparse.ArgumentParser(description="Compare masks with acceptance.")
    parser.add_argument("--masks", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    masks, grammars = ClassMasks(real_vocabulary()), 0
    with TemporaryDirectory() as folder:
        while masks.compared < asked.masks:
            random = Random(f"{asked.seed} {grammars}")
            if grammars % 16:
                masks.compare_engines(random)
            else:
                masks.compare_made_ahead(random, Path(folder))
            grammars += 1
            if grammars % 1000 == 0:
                sys.stderr.write(f"{masks.compared} masks of {grammars} grammars\n")
    sys.stdout.write(f"{masks.compared} masks of {grammars} grammars, no difference\n")


if __name__ == "__main__":
    main()
