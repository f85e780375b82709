"""Recordings of sessions (plays): accepted input and mask hashes, to replay and compare."""

from kbnf_core.recordings.model import (
    Assertion,
    Recording,
    RecordingError,
    Step,
    What,
    read_recording,
    write_recording,
)
from kbnf_core.recordings.record import grammar_hash, mask_hash, record
from kbnf_core.recordings.replay import Divergence, Replay, replay

__all__ = [
    "Assertion",
    "Divergence",
    "Recording",
    "RecordingError",
    "Replay",
    "Step",
    "What",
    "grammar_hash",
    "mask_hash",
    "read_recording",
    "record",
    "replay",
    "write_recording",
]
