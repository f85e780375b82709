"""Compiling for servers: grammars from requests, each once, within a bound of memory.

What a request names, a schema, a regular expression, a list of choices or a text in some language,
is the key under which its grammar is kept; so is the error of one that is refused. With workers
the work is done in processes of their own (``processes``), which receive a ``Job`` and send back
the automata (``SentGrammar``): a server's loop goes on meanwhile, since nothing here keeps the
interpreter for long.

Tests: tests/serving/test_compiler.py
"""

import ctypes
import os
import sys
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from threading import Timer
from time import thread_time
from types import TracebackType
from typing import Any

from kbnf_core.config import Finish
from kbnf_core.frontend import KBNF
from kbnf_core.grammar import OF_READ, Grammar
from kbnf_core.languages import JSON_SCHEMA, LANGUAGES, named
from kbnf_core.lower.tables import Tables
from kbnf_core.mask.ahead import Ahead, ahead_for
from kbnf_core.mask.canonical import rows_of
from kbnf_core.processes import Pool, Process, ProcessError, StartError
from kbnf_core.text.errors import ConfigError, InternalError, KbnfError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.locks import new_lock
from kbnf_core.text.source import Source
from kbnf_core.vocab.vocabulary import Vocabulary


@dataclass(frozen=True)
class Job:
    """The input of one compilation: a text, its language, and settings in a fixed order."""

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
class SentGrammar:
    """The data sent of a grammar between processes: its automata, and how texts end."""

    start: str
    finish: Finish
    tables: Tables

    @classmethod
    def of(cls, grammar: Grammar) -> "SentGrammar":
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


def compile_job(job: Job) -> SentGrammar:
    """Return a compiled grammar, in the process that works on it; raises ``KbnfError``."""
    return SentGrammar.of(job.grammar())


ENTRY_BYTES = 4_096
"""What an entry takes besides its text and arrays."""


MEASURED_AT_ONCE = 8
"""Entries whose sizes are estimated again whenever one is added."""

KEPT_FREE = 1 / 8
"""The share of the bound that may be forgotten before free memory is returned to the system."""


@dataclass(slots=True)
class _Entry:
    """A grammar that is kept, or its error; ``source_bytes`` is the size of its key."""

    grammar: Future[Grammar]
    source_bytes: int
    bytes: int

    def measure(self) -> int:
        """Estimate its size again, in bytes, with the masks that engines have computed."""
        self.bytes = self.source_bytes + _grammar_bytes(self.grammar)
        return self.bytes


@dataclass(frozen=True, slots=True)
class Metrics:
    """The counts of a compiler, for a server to monitor.

    Counted since it was made: ``hits`` and ``misses``, requests for a grammar that was kept, or
    waited for, and others; ``refusals``, refused requests by the code of the finding, or the name
    of the error; ``evictions``, grammars forgotten for their memory; ``seconds`` that compiling had
    of a processor. Now: the ``queue``, grammars that are not ready; ``kept``, those that are and
    remembered refusals, and their ``bytes``. The rest is that of ``Ahead``.
    """

    hits: int
    misses: int
    refusals: Mapping[str, int]
    evictions: int
    queue: int
    seconds: float
    kept: int
    bytes: int
    ahead_masks: int
    ahead_hits: int
    ahead_seconds: float


class _CompilerCounts:
    """The counts of threads; ``hits``, ``misses``, ``evictions`` under the compiler's lock."""

    def __init__(self) -> None:
        self.hits = self.misses = self.evictions = 0
        self.seconds = 0.0
        self._refusals: Counter[str] = Counter()
        self._lock = new_lock()

    def add_seconds(self, seconds: float) -> None:
        """Add processor time."""
        with self._lock:
            self.seconds += seconds

    def note(self, done: Future[Grammar]) -> None:
        """Count a request that is refused."""
        error = None if done.cancelled() else done.exception()
        if error is not None:
            findings = getattr(error, "diagnostics", ())
            code = findings[0].code if findings else type(error).__name__
            with self._lock:
                self._refusals[code] += 1

    def note_late(self, done: Future[Grammar]) -> None:
        """Count a request that is over before its grammar is ready."""
        if not done.cancelled() and isinstance(done.exception(), DeadlineError):
            self.note(done)

    def refused(self) -> dict[str, int]:
        """Return the refusals by code."""
        with self._lock:
            return dict(self._refusals)


class Compiler:
    """Makes grammars for one vocabulary and keeps them, the last used, within ``memory`` bytes.

    With ``workers``, that many processes do the work; they end with ``close`` or this process, and
    serve no other: a forked child makes a compiler of its own. A source that ends its process
    ``STRIKES`` times is refused from then on (``QuarantinedError``). ``limits`` bound the work of a
    grammar (``Limits.work``), counted, so that the same source is always refused alike.
    ``schema_options`` are those of ``Grammar.from_json_schema`` for schemas that come without.
    Threads may share a compiler. A grammar that is in use stays usable when it is forgotten here.
    ``ahead``: a background thread makes the masks that are likely to come next for the engines of
    these grammars, while the model computes (``Engine``); its counts are in ``ahead``, None where
    it is off. ``canonical``: let these engines allow canonical tokens alone (``Engine``);
    ``ConfigError`` where the vocabulary has no rule for that.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        memory: int = 512 * 2**20,
        workers: int = 0,
        *,
        limits: Limits = DEFAULT_LIMITS,
        schema_options: Mapping[str, Any] | None = None,
        ahead: bool = True,
        canonical: bool = False,
    ) -> None:
        if canonical:
            rows_of(vocabulary)
        self.canonical = canonical
        self.vocabulary = vocabulary
        self._schema_options = JSON_SCHEMA.options_of("", schema_options or {})
        JSON_SCHEMA.check_options(self._schema_options)
        self.ahead: Ahead | None = ahead_for(ahead)
        self._memory = memory
        self._counts = _CompilerCounts()
        self._limits = limits
        self._lock = new_lock()
        self._kept: OrderedDict[Job, _Entry] = OrderedDict()
        self._bytes = 0
        # The bytes forgotten since free memory was last returned to the system.
        self._forgotten = 0
        self._to_measure: deque[Job] = deque()
        self._closed = False
        self._process_id = os.getpid()
        # Nothing of the program that made this compiler is imported by its processes.
        self._pool = Pool(workers) if workers else None

    def __enter__(self) -> "Compiler":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def bytes(self) -> int:
        """The estimated size of the cached grammars with their masks, in bytes."""
        with self._lock:
            self._bytes = sum(entry.measure() for entry in self._kept.values())
            return self._bytes

    def metrics(self) -> Metrics:
        """Return the counts so far, and the grammars kept and waiting; any thread may ask."""
        with self._lock:
            waiting = sum(not entry.grammar.done() for entry in self._kept.values())
            kept, counts = len(self._kept), self._counts
        ahead = self.ahead or Ahead()
        return Metrics(
            hits=counts.hits,
            misses=counts.misses,
            refusals=counts.refused(),
            evictions=counts.evictions,
            queue=waiting,
            seconds=counts.seconds,
            kept=kept,
            bytes=self.bytes,
            ahead_masks=ahead.positions,
            ahead_hits=ahead.hits,
            ahead_seconds=ahead.seconds,
        )

    def close(self) -> None:
        """End the workers, whatever they are doing; unfinished work is cancelled."""
        if self._belongs_to_parent():
            return
        with self._lock:
            self._closed = True
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def json_schema(self, schema: Mapping[str, Any] | bool | str | Any, **options: Any) -> Grammar:
        """Return the grammar of a JSON Schema: a dict, a bool, a text or a pydantic model.

        ``options`` are those of ``Grammar.from_json_schema``. Raises
        ``GrammarError`` for one that cannot be used.
        """
        return self.submit("json_schema", schema, **options).result()

    def regex(self, pattern: str) -> Grammar:
        """Return the grammar of a regular expression, as ``Grammar.from_regex`` does."""
        return self.submit("regex", pattern).result()

    def choice(self, choices: Sequence[str]) -> Grammar:
        """Return the grammar of a list of texts, as ``Grammar.from_choice`` does."""
        return self.submit("choice", choices).result()

    def structural_tag(self, tag: Mapping[str, Any] | str | Any) -> Grammar:
        """Return the grammar of a structural tag, as ``Grammar.from_structural_tag`` does."""
        return self.submit("structural_tag", tag).result()

    def grammar(self, text: str, language: str | None = None, **options: Any) -> Grammar:
        """Return the grammar of a text in KBNF or the language that is named, ``gbnf`` for one.

        ``options`` are those of ``Grammar.read``. Raises ``ConfigError`` for a language that
        ``kbnf_core.languages`` does not know.
        """
        return self.submit("grammar", text, language=language or KBNF.name, **options).result()

    def submit(
        self,
        kind: str | Callable[..., Grammar],
        source: Any,
        *,
        deadline: float | None = None,
        **options: Any,
    ) -> Future[Grammar]:
        """Return the same as a future; a refusal is its ``exception()``.

        ``kind``: a method of the compiler, or its name. ``deadline``: seconds of the wall after
        which the exception is ``DeadlineError``; the work goes on for later requests. Without
        workers it is done when this returns, and nothing is late.
        """
        result = self._submit(kind, source, options)
        result.add_done_callback(self._counts.note)
        if deadline is None or result.done():
            return result
        answer = _in_time(result, deadline)
        answer.add_done_callback(self._counts.note_late)
        return answer

    def _submit(
        self, kind: str | Callable[..., Grammar], source: Any, options: dict[str, Any]
    ) -> Future[Grammar]:
        if self._belongs_to_parent():
            raise ConfigError(
                "a compiler with workers serves the process that made it; make one in each"
                " process after forking"
            )
        job = self._job(str(getattr(kind, "__name__", kind)), source, options)
        with self._lock:
            if self._closed:
                raise ConfigError("this compiler is closed")
            entry = self._kept.get(job)
            if entry is not None and not _may_succeed(entry.grammar):
                self._kept.move_to_end(job)
                self._counts.hits += 1
                return entry.grammar
            self._counts.misses += 1
            future: Future[Grammar]
            work = partial(_compiled, job, self._finished, self._counts)
            future = Future() if self._pool is None else self._pool.submit_work(work)
            self._keep(job, future)
        if self._pool is None:
            _settle(future, job, self._finished, self._counts)
        future.add_done_callback(lambda _: self._trim(job))
        return future

    def _finished(self, grammar: Grammar) -> Grammar:
        """Return a grammar with the defaults of its engines."""
        grammar.ahead, grammar.canonical = self.ahead, self.canonical
        return grammar

    def _belongs_to_parent(self) -> bool:
        """Return whether this process was forked off: it has the workers' pipes, and no thread."""
        return self._pool is not None and os.getpid() != self._process_id

    def _keep(self, job: Job, future: Future[Grammar]) -> None:
        if job in self._kept:
            self._bytes -= self._kept.pop(job).bytes
        else:
            self._to_measure.append(job)
        size = ENTRY_BYTES + len(job.text)
        self._kept[job] = _Entry(future, size, size)
        self._bytes += size

    def _job(self, kind: str, source: Any, options: dict[str, Any]) -> Job:
        wanted = options.pop("language", KBNF.name) if kind == "grammar" else kind
        language = named(wanted) if isinstance(wanted, str) else None
        if language is None:
            names = ", ".join(readable.name for readable in LANGUAGES)
            raise ConfigError(f"a compiler reads {names}, not {wanted}")
        if language is JSON_SCHEMA:
            options = self._schema_options | options
        options = language.options_of(source, options)
        language.check_options({name: options[name] for name in options.keys() - OF_READ})
        for name, value in options.items():
            if not isinstance(value, bool if name == "lossy" else Hashable):
                raise ConfigError(f"`{name}` cannot be {value!r}"[:200])
        text = language.text_of(source)
        return Job(language.name, text, tuple(sorted(options.items())), self._limits)

    def _trim(self, done: Job) -> None:
        """Forget the least recently used grammars, until the rest is within the bound.

        Masks are computed elsewhere, so sizes grow unseen: some are measured again each time, in
        turn. To measure all would take longer the more grammars are kept.
        """
        with self._lock:
            count = min(MEASURED_AT_ONCE, len(self._to_measure))
            turn = [self._to_measure.popleft() for _ in range(count)]
            self._to_measure.extend(job for job in turn if job in self._kept)
            for job in {done, *turn} & self._kept.keys():
                entry = self._kept[job]
                self._bytes += -entry.bytes + entry.measure()
            while self._bytes > self._memory and self._forget_one():
                continue
            is_much = self._forgotten > KEPT_FREE * self._memory
            if is_much:
                self._forgotten = 0
        if is_much:
            _give_back()

    def _forget_one(self) -> bool:
        for job, entry in self._kept.items():
            # One that is being made has no size yet, and somebody waits for it.
            if entry.grammar.done():
                del self._kept[job]
                self._bytes -= entry.bytes
                self._forgotten += entry.bytes
                self._counts.evictions += 1
                return True
        return False


def _give_back() -> None:
    """Return the allocator's free memory to the system: as much as compiling took at its peak."""
    trim = _trim_function()
    if trim is not None:
        trim(0)


@cache
def _trim_function() -> Callable[[int], int] | None:
    """Return the function of the GNU library; others give back by themselves."""
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    return getattr(library, "malloc_trim", None)


def _may_succeed(future: Future[Grammar]) -> bool:
    """Return whether it is worth trying again: the source had no part in the failure."""
    if not future.done():
        return False
    if future.cancelled():
        return True
    error = future.exception()
    return isinstance(error, WorkerError) and not isinstance(error, QuarantinedError)


def _settle(
    future: Future[Grammar],
    job: Job,
    finished: Callable[[Grammar], Grammar],
    counts: _CompilerCounts,
) -> None:
    if not future.set_running_or_notify_cancel():
        return
    before = thread_time()
    try:
        # As from a worker: the tree of the text is more than all the rest, and few ask for it.
        future.set_result(finished(compile_job(job).restored(job)))
    except KbnfError as error:
        future.set_exception(error)
    finally:
        counts.add_seconds(thread_time() - before)


def _grammar_bytes(future: Future[Grammar]) -> int:
    if not future.done() or future.cancelled() or future.exception() is not None:
        return 0
    return future.result().estimated_bytes


STRIKES = 2
"""Processes that a source may end before it is refused."""


class WorkerError(KbnfError, RuntimeError):
    """A worker process cannot be started, or was ended by ``close``: try again."""


class QuarantinedError(WorkerError):
    """A source that ended its process ``STRIKES`` times: a refusal, which is remembered."""

    def __init__(self) -> None:
        super().__init__(f"compiling this ended its process {STRIKES} times; it is not tried again")


class DeadlineError(KbnfError, TimeoutError):
    """A grammar that was not ready in time; the work goes on, and its result is kept."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"the grammar was not ready after {seconds:g} seconds; it is still made")


def _in_time(future: Future[Grammar], seconds: float) -> Future[Grammar]:
    """Return a future with the same outcome, or ``DeadlineError`` after some seconds."""
    answer: Future[Grammar] = Future()

    def settle(error: BaseException | None, grammar: Grammar | None = None) -> None:
        with suppress(InvalidStateError):
            if grammar is None:
                answer.set_exception(error)
            else:
                answer.set_result(grammar)

    def pass_on(done: Future[Grammar]) -> None:
        timer.cancel()
        if done.cancelled():
            answer.cancel()
            settle(CancelledError())
        else:
            error = done.exception()
            settle(error, None if error is not None else done.result())

    timer = Timer(seconds, lambda: settle(DeadlineError(seconds)))
    timer.daemon = True
    timer.start()
    future.add_done_callback(pass_on)
    return answer


def _compiled(
    job: Job, finished: Callable[[Grammar], Grammar], counts: _CompilerCounts, process: Process
) -> Grammar:
    """Return the grammar of a job that a process works on. Raises ``KbnfError`` only."""
    before = process.spent()
    try:
        for _ in range(STRIKES):
            try:
                answer: SentGrammar = process.call(compile_job, job)
            except ProcessError:
                continue
            return finished(answer.restored(job))
    except StartError as error:
        raise WorkerError(f"a worker process cannot be started: {error}") from None
    except KbnfError:
        raise
    except Exception as error:
        raise InternalError(error) from error
    finally:
        counts.add_seconds(process.spent() - before)
    raise QuarantinedError
