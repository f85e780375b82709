"""XGrammar's masks of structural tags, asked for in a process that can be ended.

XGrammar 0.2.9 takes half as long again with each token where free text is repeated, as in some
random tags: a third of a second for 20 tokens, minutes for 30; its masks cannot be interrupted.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from kbnf_core.processes import Process, ProcessError

SECONDS = 5.0
"""Processor time for the masks of one text."""

_PROCESS = Process()


class TooSlowError(Exception):
    """XGrammar takes more than ``SECONDS`` for the masks of a text."""


def masks(words: Sequence[bytes], tag: str, tokens: Sequence[int]) -> list[set[int]]:
    """Return the tokens that are allowed at first and after each of some, which are taken.

    The last one of ``words`` ends texts. Where a token is not taken, the answer ends.
    """
    try:
        found: list[set[int]] = _PROCESS.call(_masks, tuple(words), tag, [*tokens], seconds=SECONDS)
    except ProcessError as error:
        if error.is_late:
            raise TooSlowError(f"XGrammar takes more than {SECONDS:g} s for its masks") from None
        raise
    return found


def _masks(words: tuple[bytes, ...], tag: str, tokens: list[int]) -> list[set[int]]:
    import xgrammar

    matcher = xgrammar.GrammarMatcher(_compiler(words).compile_structural_tag(tag))
    mask = xgrammar.allocate_token_bitmask(1, len(words))
    found = []
    for token in [None, *tokens]:
        if token is not None and not matcher.accept_token(token):
            break
        mask.fill_(-1)
        matcher.fill_next_token_bitmask(mask)
        found.append(
            {each for each in range(len(words)) if int(mask[0, each // 32]) >> each % 32 & 1}
        )
    return found


@lru_cache(maxsize=1)
def _compiler(words: tuple[bytes, ...]) -> Any:
    import xgrammar

    info = xgrammar.TokenizerInfo([*words], stop_token_ids=[len(words) - 1])
    return xgrammar.GrammarCompiler(info)
