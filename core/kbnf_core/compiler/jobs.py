"""Messages between a compiler and its workers: jobs, compiled grammars, and how they are sent.

A message is a pickle led by its length. Both ends of the pipe are this package's; nothing else is
unpickled.
"""

import pickle
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO

from kbnf_core.config import Finish
from kbnf_core.frontend import KBNF
from kbnf_core.grammar import Grammar
from kbnf_core.languages import named
from kbnf_core.lower.tables import Tables
from kbnf_core.text.errors import InternalError, KbnfError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source

_LENGTH = struct.Struct("<Q")


def pack(message: object) -> bytes:
    """Return a message as it is sent between this process and a worker."""
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def unpack(data: bytes) -> object:
    """Return the message that ``pack`` made ``data`` of."""
    return pickle.loads(data)  # noqa: S301 - what our own process wrote


def send(stream: BinaryIO, data: bytes) -> None:
    """Write one message."""
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: BinaryIO) -> bytes:
    """Return the next message; raise ``EOFError`` where the other side is gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    length = _LENGTH.unpack(head)[0]
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return data


@dataclass(frozen=True)
class Job:
    """What is to be compiled: a text, its language, and settings in a fixed order."""

    language: str
    text: str
    options: tuple[tuple[str, Any], ...] = ()
    limits: Limits = DEFAULT_LIMITS

    def grammar(self) -> Grammar:
        """Compile here, automata and all; raises ``KbnfError``, whatever goes wrong."""
        language = named(self.language) or KBNF
        try:
            grammar = Grammar.read_with(
                self.text, language, limits=self.limits, **dict(self.options)
            )
            grammar.tables  # noqa: B018 - what passes a limit is refused here
        except KbnfError:
            raise
        except (RecursionError, MemoryError) as error:
            message = f"compiling took more than this process has: {error!r}"
            raise KbnfError(message) from error
        except Exception as error:
            raise InternalError(error) from error
        return grammar


@dataclass(frozen=True, slots=True)
class Compiled:
    """What is sent of a grammar between processes: its automata, and how texts end."""

    start: str
    finish: Finish
    tables: Tables

    @classmethod
    def of(cls, grammar: Grammar) -> "Compiled":
        """Return a grammar for travelling; raises ``GrammarError`` where a limit is passed."""
        return cls(grammar.start, grammar.finish, grammar.tables)

    def restored(self, job: Job) -> Grammar:
        """Return the grammar of ``job``, whose text is read here only when it is asked for."""
        return Grammar.restore(
            Source(job.text),
            self.start,
            self.finish,
            self.tables,
            None,
            job.limits,
            language=named(job.language) or KBNF,
            read=lambda: job.grammar().reading,
        )
