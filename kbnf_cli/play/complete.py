"""What may be typed next: the names of commands, and the allowed tokens by their text."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from kbnf_cli.play.commands import COMMANDS
from kbnf_cli.play.session import Session
from kbnf_cli.play.typed import TypingError, read_typed, write_typed
from kbnf_core.mask.bits import unpack, word_count
from kbnf_core.vocab.trie import ABSENT

_MOST = 200
"""Proposals; nobody reads more."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """``text`` replaces the last ``length`` characters typed; ``note`` stands beside it."""

    text: str
    length: int
    note: str


def proposals(session: Session, typed: str) -> Iterator[Proposal]:
    """Yield what the line ``typed`` so far may go on to, at most some hundred."""
    if not typed.startswith(":"):
        yield from _tokens(session, typed)
        return
    name, blank, rest = typed[1:].partition(" ")
    if not blank:
        for each, command in sorted(COMMANDS.items()):
            if each.startswith(name):
                yield Proposal(f":{each}", len(typed), command.help)
    elif name in COMMANDS and COMMANDS[name].takes_text:
        yield from _tokens(session, rest.rpartition(" ")[2] if name == "assert" else rest)


def _tokens(session: Session, typed: str) -> Iterator[Proposal]:
    """Yield the allowed tokens that begin with what was typed, in the order of their bytes."""
    try:
        data = read_typed(typed)
    except TypingError:
        return
    vocabulary = session.vocabulary
    trie = vocabulary.trie
    node = trie.find(data)
    if node == ABSENT:
        return
    words = np.zeros(word_count(vocabulary.size), np.int32)
    session.engine.fill_bitmask(words)
    below = trie.subtree_ids(node)
    allowed = below[unpack(words.view(np.uint32), vocabulary.size)[below]]
    for token_id in islice(allowed.tolist(), _MOST):
        yield Proposal(write_typed(vocabulary.tokens[token_id]), len(typed), f"#{token_id}")
