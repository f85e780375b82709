"""XGrammar's masks of structural tags, asked for in a process that can be ended.

XGrammar 0.2.9 takes half as long again with each token where free text is repeated, as in some
random tags: a third of a second for 20 tokens, minutes for 30; its masks cannot be interrupted.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from kbnf_core.processes import Process, ProcessError

SECONDS = 5.0
"""Processor time for one mask."""

_PROCESS = Process()


class TooSlowError(Exception):
    """XGrammar takes more than ``SECONDS`` for a mask."""


def masks(words: Sequence[bytes], tag: str, tokens: Sequence[int]) -> list[set[int]]:
    """Return the tokens that are allowed at first and after each of some, which are taken.

    The last one of ``words`` ends texts. Where a token is not taken, the answer ends.
    """
    try:
        return [*_PROCESS.results(_masks, tuple(words), tag, [*tokens], seconds=SECONDS)]
    except ProcessError as error:
        if error.is_late:
            raise TooSlowError(f"XGrammar takes more than {SECONDS:g} s for a mask") from None
        raise


def _masks(words: tuple[bytes, ...], tag: str, tokens: list[int]) -> Iterator[set[int]]:
    import xgrammar

    matcher = xgrammar.GrammarMatcher(_compiler(words).compile_structural_tag(tag))
    mask = xgrammar.allocate_token_bitmask(1, len(words))
    for token in [None, *tokens]:
        if token is not None and not matcher.accept_token(token):
            return
        mask.fill_(-1)
        matcher.fill_next_token_bitmask(mask)
        yield {each for each in range(len(words)) if int(mask[0, each // 32]) >> each % 32 & 1}


@lru_cache(maxsize=1)
def _compiler(words: tuple[bytes, ...]) -> Any:
    import xgrammar

    info = xgrammar.TokenizerInfo([*words], stop_token_ids=[len(words) - 1])
    return xgrammar.GrammarCompiler(info)
