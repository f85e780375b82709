"""Budgets of tokens, against a search through all texts: ``python -m kbnf_testing.budgets``.

``PYTHONPATH=tests/support python -m kbnf_testing.budgets --cases 10000`` searches breadth first
over the positions of an engine without a budget, one token after the other. What counts
(``--counted``) is compared with an engine that has a state for every count; what comes before the
grammar (``--after``) with the bytes that have come. ``--crossed`` are grammars with several
derivations at once, so that a token could read past the end of a text.

The engine's number of tokens to the end is an upper bound. So with a budget it allows only tokens
after which the search finds an end in time, always allows one, and ends in time. How far the bound
is above the fewest tokens is printed, and how far above those of the shortest completion.
"""

import argparse
import copy
import sys
from collections import Counter
from contextlib import suppress
from functools import cached_property, partial
from math import inf
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

from kbnf_core import Engine, Grammar, Vocabulary, allocate_bitmask
from kbnf_core.mask.bits import ids_of
from kbnf_core.text.errors import ConfigError, EngineError, WorkLimitError
from kbnf_testing import subject
from kbnf_testing.agreement import FINISHES, random_sample
from kbnf_testing.counts import counted_pair, counting_vocabulary, object_vocabulary
from kbnf_testing.generate import Features, random_tokens

MOST_POSITIONS = 2_000
"""Positions that one search may meet before it gives up."""
MOST_STEPS = 60
"""Tokens of one text, those before the grammar among them."""
MOST_IN_ALL = 20_000
"""Positions that all searches of a case may meet."""


class GivenUpError(Exception):
    """There are too many positions to look at all."""


class Search:
    """The fewest tokens from positions of an engine, with the results so far."""

    def __init__(self) -> None:
        self._known: dict[int, float] = {}
        self._left = MOST_IN_ALL

    def fewest(self, engine: Engine, most: float = inf) -> float:
        """Return the fewest tokens to the end, above ``most`` any number that is."""
        if engine.is_finished():
            return 0
        known = self._known.get(engine._position)
        if known is None:
            known = self._search(engine, most)
            if known <= most:
                self._known[engine._position] = known
        return known

    def _search(self, engine: Engine, most: float) -> float:
        has_ends = bool(engine.vocabulary.eos_token_ids)
        met, level, count = {engine._position}, [engine], 0
        while level and count <= most:
            if not has_ends and any(each.can_finish() for each in level):
                return count
            count += 1
            reached: dict[int, Engine] = {}
            for each in level:
                for token_id in allowed(each):
                    after = copy.copy(each)
                    after.try_accept_new_token(token_id)
                    if after.is_finished():
                        return count
                    if after._position not in met:
                        reached[after._position] = after
            met.update(reached)
            self._left -= len(reached)
            if len(met) > MOST_POSITIONS or self._left < 0:
                raise GivenUpError
            level = list(reached.values())
        return inf if not level else most + 1


def allowed(engine: Engine) -> list[int]:
    """Return the tokens that can come."""
    engine.compute_allowed_token_ids()
    return engine.get_allowed_token_ids_from_last_computation()


def filled(engine: Engine) -> list[int]:
    """Return the tokens of the bitmask that is written."""
    row = allocate_bitmask(1, engine.vocabulary.size)[0]
    engine.fill_bitmask(row)
    found: list[int] = ids_of(row.view(np.uint32), engine.vocabulary.size).tolist()
    return found


class Place(NamedTuple):
    """A position in a text: in the grammar without a budget, or, before it, the text so far.

    ``left`` are the tokens that are left.
    """

    free: Engine | None
    seen: bytes
    left: int


class Case:
    """A random grammar and vocabulary; ``settings`` are those of an engine.

    ``plain`` is the same grammar, for the search; a case that ``waits`` has a text before it.
    """

    def __init__(
        self,
        random: Random,
        grammar: Grammar,
        plain: Grammar,
        vocabulary: Vocabulary,
        *,
        waits: bool = False,
    ):
        self._random = random
        self._waits = waits
        self.vocabulary = vocabulary
        self.grammar = grammar
        self.settings: dict[str, Any] = {"finish": random.choice(FINISHES)}
        self.free = Engine(plain, self.vocabulary, **self.settings)
        self._search = Search()
        self.excess = 0
        # The least budget without the end of the sequence, and the shortest completion in tokens.
        self.asked: tuple[int, int] | None = None

    @classmethod
    def drawn(cls, random: Random, *, waits: bool = False) -> "Case":
        """Return a case of any grammar."""
        sample = random_sample(random, Features())
        grammar = Grammar(sample.text)
        vocabulary = subject.vocabulary_of(random_tokens(random, sample.alphabet))
        return cls(random, grammar, grammar, vocabulary, waits=waits)

    @classmethod
    def counted(cls, random: Random) -> "Case":
        """Return a case of a grammar that counts."""
        counting, plain = counted_pair(random, random.choice((4, 8, 16)))
        kind = object_vocabulary if counting.language.is_json else counting_vocabulary
        return cls(random, counting, plain, kind(random, random.choice((2, 5, 9))))

    @classmethod
    def crossed(cls, random: Random) -> "Case":
        """Return a case in which a text can be complete where other derivations go on."""
        rules = "".join(
            f"{name} ::= {_word(random, 3)} | {_word(random, 2)} {name} {_word(random, 2)}"
            f" | {_expression(random, 2)} {_word(random, 2)};"
            for name in "xyz"
        )
        grammar = Grammar(f"start ::= x | y | {_expression(random, 2)}; {rules}")
        words = {_letters(random, 5).encode() for _ in range(random.randint(6, 18))}
        vocabulary = Vocabulary(dict(enumerate(sorted(words | {b"a", b"b"}))))
        case = cls(random, grammar, grammar, vocabulary)
        case.settings["finish"] = "eager"
        case.free = Engine(grammar, vocabulary, **case.settings)
        return case

    def compare(self, texts: int = 3) -> int:
        """Play texts with budgets from the least one on; return how many steps were compared."""
        fewest = self._search.fewest(self.free)
        bounded = Engine(self.grammar, self.vocabulary, **self.settings)
        nearest_end = bounded._automaton.nearest_end
        least = nearest_end.least(bounded._position)
        assert fewest <= least, (fewest, least)
        # Where no position has a bound its own search decides, as far as it goes.
        if least == inf and not nearest_end.cannot_end(bounded._position):
            raise GivenUpError
        assert (fewest == inf) == (least == inf), (fewest, least)
        for too_few in (0, least - 1 if least < inf else 30):
            if least > too_few:
                self._demand_refused(int(too_few), least)
        if least == inf:
            return 0
        self.excess += int(least - fewest)
        completion = bounded.shortest_completion()
        assert completion.tokens is not None
        ends = self.settings["finish"] == "eos" and bool(self.vocabulary.eos_token_ids)
        self.asked = int(least) - ends, len(completion.tokens)
        return sum(
            self._play(int(least) + self._random.choice((0, 0, 1, 2, 5))) for _ in range(texts)
        )

    def _demand_refused(self, budget: int, least: float) -> None:
        message = "in any number" if least == inf else f"{least:,.0f} tokens? (is|are) enough"
        with pytest.raises(ConfigError, match=message):
            Engine(self.grammar, self.vocabulary, budget=budget, **self.settings)

    def _play(self, budget: int) -> int:
        random = self._random
        after = self._text_before() if self._waits else None
        engine = Engine(self.grammar, self.vocabulary, budget=budget, after=after, **self.settings)
        past = [Place(self.free if after is None else None, b"", budget)]
        while not engine.is_finished() and len(past) < MOST_STEPS:
            here = past[-1]
            assert engine.remaining == here.left
            assert engine.is_waiting() == (here.free is None)
            if here.left == 0 and here.free is not None:
                assert engine.can_finish()
                assert not engine.vocabulary.eos_token_ids
                break
            plain = self._before(after) if here.free is None else allowed(here.free)
            ways = {
                token_id: there
                for token_id in plain
                if self._fits(there := self._after(here, token_id, after))
            }
            chosen = allowed(engine)
            assert chosen == filled(engine) or not chosen
            assert set(chosen) <= set(ways), (chosen, list(ways), here)
            for refused in set(plain) - set(chosen):
                assert engine.accept_tokens([refused]) == 0
            if not chosen:
                assert engine.can_finish()
                assert not engine.vocabulary.eos_token_ids
                break
            token_id = random.choice(chosen)
            engine.try_accept_new_token(token_id)
            past.append(ways[token_id])
            if random.random() < 0.1:
                count = random.randint(1, len(past) - 1)
                engine.rollback(count)
                del past[-count:]
        return len(past) - 1

    def _text_before(self) -> str:
        """Return a text to wait for: what some tokens begin, have or end with."""
        texts = [self.vocabulary.decode((each,)) for each in self._every]
        text = b"".join(self._random.choice(texts)[-2:] for _ in range(self._random.randint(1, 2)))
        return text.decode() if text and text.isascii() else "a"

    def _before(self, after: str | None) -> list[int]:
        """Return the tokens allowed before a text: all but those that end the sequence early."""
        ends = {
            each
            for each in self.vocabulary.eos_token_ids
            if (after or "").encode() not in self.vocabulary.decode((each,))
        }
        return [each for each in self._every if each not in ends]

    @cached_property
    def _every(self) -> list[int]:
        return sorted({*self.vocabulary.tokens, *self.vocabulary.special_ids})

    def _after(self, here: Place, token_id: int, after: str | None) -> Place:
        if here.free is not None:
            free = copy.copy(here.free)
            free.try_accept_new_token(token_id)
            return Place(free, b"", here.left - 1)
        assert after is not None
        seen = here.seen + self.vocabulary.decode((token_id,))
        _, has_come, rest = seen.partition(after.encode())
        if not has_come:
            return Place(None, seen, here.left)
        free = copy.copy(self.free)
        with suppress(EngineError):
            # Text that the grammar refuses does not belong to it.
            free.try_accept_new_bytes(rest)
        return Place(free, b"", here.left)

    def _fits(self, there: Place) -> bool:
        return there.free is None or self._search.fewest(there.free, there.left) <= there.left


def _letters(random: Random, most: int) -> str:
    return "".join(random.choices("ab", k=random.randint(1, most)))


def _word(random: Random, most: int) -> str:
    return f'"{_letters(random, most)}"'


def _expression(random: Random, depth: int) -> str:
    """Return an expression of words and of the rules ``x``, ``y`` and ``z``."""
    if depth == 0:
        return _word(random, 4)
    one, other = (_expression(random, depth - 1) for _ in range(2))
    low = random.randint(1, 3)
    kinds = (
        *(_word(random, 4), f"({one} | {other})", f"{one} {other}", f"[{one}]"),
        *(random.choice("xyz"), f"({_word(random, 2)}){{{low},{low + random.randint(0, 3)}}}"),
        f"{{{_word(random, 3)}}}",
    )
    return random.choice(kinds)


def main() -> None:
    """Compare as many grammars as are asked for."""
    parser = argparse.ArgumentParser(description="Compare budgets with a search.")
    parser.add_argument("--cases", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--counted", action="store_true")
    parser.add_argument("--after", action="store_true", help="wait for a text first")
    parser.add_argument("--crossed", action="store_true")
    asked = parser.parse_args()
    draw = Case.counted if asked.counted else partial(Case.drawn, waits=asked.after)
    draw = Case.crossed if asked.crossed else draw
    cases = steps = given_up = refused = excess = late = 0
    asked_for: list[tuple[int, int]] = []
    while cases < asked.cases:
        try:
            case = draw(Random(f"{asked.seed} {cases}"))
            steps += case.compare()
            excess += case.excess
            late += case.excess > 0
            asked_for += [case.asked] if case.asked else []
        except GivenUpError:
            given_up += 1
        except WorkLimitError:
            # One byte takes more than the limit, where rules lie side by side.
            refused += 1
        except (AssertionError, EngineError):
            sys.stderr.write(f"case {asked.seed} {cases}\n")
            raise
        cases += 1
        if cases % 1000 == 0:
            sys.stderr.write(f"{cases} grammars, {steps} steps\n")
    sys.stdout.write(
        f"{cases} grammars and vocabularies, {steps} steps, all in time;"
        f" {given_up} were too many to search, {refused} passed `Limits.work`;"
        f" {late} bounds above the fewest tokens, by {excess / max(late, 1):.1f} on average\n"
    )
    near = sum(least <= 1.3 * shortest + 3 for least, shortest in asked_for)
    above = Counter(least - shortest for least, shortest in asked_for)
    sys.stdout.write(
        f"{near} of {len(asked_for)} least budgets are at most 1.3 times the shortest completion,"
        f" plus 3; differences: {dict(sorted(above.items()))}\n"
    )


if __name__ == "__main__":
    main()
