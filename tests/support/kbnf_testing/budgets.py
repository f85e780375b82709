"""Budgets of tokens, against a search through all texts: ``python -m kbnf_testing.budgets``.

``PYTHONPATH=tests/support python -m kbnf_testing.budgets --cases 10000 [--counted]``. The search
goes breadth first over the positions of an engine without a budget, one token after the other. What
counts (``--counted``) is compared with an engine that has a state for every count.

The engine's number of tokens to the end is an upper bound. So with a budget it allows only tokens
after which the search finds an end in time, always allows one, and ends in time. How far the bound
is above the fewest tokens is printed.
"""

import argparse
import copy
import sys
from math import inf
from random import Random
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.text.errors import ConfigError, EngineError
from kbnf_testing import subject
from kbnf_testing.agreement import FINISHES, random_sample
from kbnf_testing.counts import counted_pair, counting_vocabulary, object_vocabulary
from kbnf_testing.generate import Features, random_tokens

MOST_POSITIONS = 2_000
"""Positions that one search may meet before it gives up."""
MOST_IN_ALL = 20_000
"""Positions that all searches of a case may meet."""


class GivenUpError(Exception):
    """There are too many positions to look at all."""


class Search:
    """The fewest tokens from positions of an engine, with what is known of them."""

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


class Case:
    """A random grammar and vocabulary; ``settings`` are those of an engine.

    ``plain`` is the same grammar, for the search.
    """

    def __init__(self, random: Random, grammar: Grammar, plain: Grammar, vocabulary: Vocabulary):
        self._random = random
        self.vocabulary = vocabulary
        self.grammar = grammar
        self.settings: dict[str, Any] = {"finish": random.choice(FINISHES)}
        self.free = Engine(plain, self.vocabulary, **self.settings)
        self._search = Search()
        self.excess = 0

    @classmethod
    def drawn(cls, random: Random) -> "Case":
        """Return a case of any grammar."""
        sample = random_sample(random, Features())
        grammar = Grammar(sample.text)
        vocabulary = subject.vocabulary_of(random_tokens(random, sample.alphabet))
        return cls(random, grammar, grammar, vocabulary)

    @classmethod
    def counted(cls, random: Random) -> "Case":
        """Return a case of a grammar that counts."""
        counting, plain = counted_pair(random, random.choice((4, 8, 16)))
        kind = object_vocabulary if counting.language.is_json else counting_vocabulary
        return cls(random, counting, plain, kind(random, random.choice((2, 5, 9))))

    def compare(self, texts: int = 3) -> int:
        """Play texts with budgets from the least one on; return how many steps were compared."""
        fewest = self._search.fewest(self.free)
        counting = Engine(self.grammar, self.vocabulary, **self.settings)
        least = counting._automaton.nearest_end.least(counting._position)
        assert fewest <= least, (fewest, least)
        assert (fewest == inf) == (least == inf), (fewest, least)
        for too_few in (0, least - 1 if least < inf else 30):
            if least > too_few:
                self._demand_refused(int(too_few), least)
        if least == inf:
            return 0
        self.excess += int(least - fewest)
        return sum(
            self._play(int(least) + self._random.choice((0, 0, 1, 2, 5))) for _ in range(texts)
        )

    def _demand_refused(self, budget: int, least: float) -> None:
        message = "in any number" if least == inf else f"{least:,.0f} are enough"
        with pytest.raises(ConfigError, match=message):
            Engine(self.grammar, self.vocabulary, budget=budget, **self.settings)

    def _play(self, budget: int) -> int:
        random = self._random
        engine = Engine(self.grammar, self.vocabulary, budget=budget, **self.settings)
        free = copy.copy(self.free)
        steps = 0
        while not engine.is_finished():
            left = engine.remaining
            assert left == budget - steps
            if left == 0:
                assert engine.can_finish()
                assert not engine.vocabulary.eos_token_ids
                break
            chosen, possible = allowed(engine), allowed(free)
            assert set(chosen) <= set(possible)
            late = [each for each in chosen if not self._fits(free, each, left - 1)]
            assert not late, (late, chosen, left)
            for refused in set(possible) - set(chosen):
                assert engine.accept_tokens([refused]) == 0
            if not chosen:
                assert engine.can_finish()
                assert not engine.vocabulary.eos_token_ids
                break
            token_id = random.choice(chosen)
            engine.try_accept_new_token(token_id)
            free.try_accept_new_token(token_id)
            steps += 1
            if random.random() < 0.1:
                count = random.randint(1, steps)
                engine.rollback(count)
                free.rollback(count)
                steps -= count
        return steps

    def _fits(self, free: Engine, token_id: int, left: int) -> bool:
        after = copy.copy(free)
        after.try_accept_new_token(token_id)
        return self._search.fewest(after, left) <= left


def main() -> None:
    """Compare as many grammars as are asked for."""
    parser = argparse.ArgumentParser(description="Compare budgets with a search.")
    parser.add_argument("--cases", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--counted", action="store_true")
    asked = parser.parse_args()
    draw = Case.counted if asked.counted else Case.drawn
    cases = steps = given_up = excess = late = 0
    while cases < asked.cases:
        try:
            case = draw(Random(f"{asked.seed} {cases}"))
            steps += case.compare()
            excess += case.excess
            late += case.excess > 0
        except GivenUpError:
            given_up += 1
        except (AssertionError, EngineError):
            sys.stderr.write(f"case {asked.seed} {cases}\n")
            raise
        cases += 1
        if cases % 1000 == 0:
            sys.stderr.write(f"{cases} grammars, {steps} steps\n")
    sys.stdout.write(
        f"{cases} grammars and vocabularies, {steps} steps, all in time;"
        f" {given_up} were too many to search; {late} bounds above the fewest tokens,"
        f" by {excess / max(late, 1):.1f} on average\n"
    )


if __name__ == "__main__":
    main()
