"""What a compiler and its processes send each other: jobs, and compiled grammars."""

from dataclasses import dataclass
from typing import Any

from kbnf_core.config import Finish
from kbnf_core.frontend import KBNF
from kbnf_core.grammar import Grammar
from kbnf_core.languages import named
from kbnf_core.lower.tables import Tables
from kbnf_core.text.errors import InternalError, KbnfError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source


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


def compile_job(job: Job) -> Compiled:
    """Return a compiled grammar, in the process that works on it; raises ``KbnfError``."""
    return Compiled.of(job.grammar())
