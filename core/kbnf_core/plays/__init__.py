"""Plays: what was typed at a grammar, kept so that it can be played again and compared."""

from kbnf_core.plays.model import Assertion, Play, Step, What
from kbnf_core.plays.record import grammar_hash, mask_hash, record
from kbnf_core.plays.replay import Divergence, Replay, replay
from kbnf_core.plays.text import PlayError, read_play, write_play

__all__ = [
    "Assertion",
    "Divergence",
    "Play",
    "PlayError",
    "Replay",
    "Step",
    "What",
    "grammar_hash",
    "mask_hash",
    "read_play",
    "record",
    "replay",
    "write_play",
]
