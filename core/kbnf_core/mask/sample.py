"""Texts at random: some steps of a random walk, then the shortest way to the end."""

from dataclasses import dataclass
from random import Random

import numpy as np
import numpy.typing as npt

from kbnf_core.mask.bits import ids_of
from kbnf_core.mask.course import Course
from kbnf_core.mask.shortest import shortest_completion
from kbnf_core.vocab.vocabulary import Vocabulary

_NO_BYTE = 256
"""The group of the tokens that have no bytes."""


@dataclass(frozen=True, slots=True)
class Sample:
    """``tokens`` that were drawn; ``is_complete`` tells whether the text may end behind them."""

    tokens: tuple[int, ...]
    is_complete: bool


def sample(course: Course, place: int, random: Random, length: int) -> Sample:
    """Return tokens that can follow at ``place``: ``length`` of them, and then the soonest end.

    Fewer where the text ends before. What is drawn first is the first byte, all that can come
    being equally likely, and then a token that begins with it, so that the many tokens of one
    letter do not drown the few that close a bracket.
    """
    tokens: list[int] = []
    while place >= 0 and len(tokens) < length:
        ids = ids_of(course.rule.mask(course.masks, place), course.masks.vocabulary.size)
        if not len(ids):
            return Sample(tuple(tokens), course.can_finish(place))
        tokens.append(_draw(course.masks.vocabulary, ids, random))
        place = course.step(place, tokens[-1])
    rest = shortest_completion(course, place).tokens
    return Sample((*tokens, *(rest or ())), rest is not None)


def _draw(vocabulary: Vocabulary, ids: npt.NDArray[np.int64], random: Random) -> int:
    groups: dict[int, list[int]] = {}
    for token_id in ids.tolist():
        data = vocabulary.token(token_id)
        groups.setdefault(data[0] if data else _NO_BYTE, []).append(token_id)
    return random.choice(groups[random.choice(sorted(groups))])
