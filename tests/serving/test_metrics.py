"""What a compiler counts, also under threads; requests with deadlines."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from kbnf_core import (
    Compiler,
    DeadlineError,
    Engine,
    GrammarError,
    Metrics,
    UnknownTokenError,
    Vocabulary,
)

VOCABULARY = Vocabulary.bytes()
SLOW = "([a-z]{1,9}[0-9]){40}"


def test_hits_misses_and_refusals_are_counted() -> None:
    compiler = Compiler(VOCABULARY)
    assert compiler.metrics() == Metrics(0, 0, {}, 0, 0, 0.0, 0, 0, 0, 0, 0.0)
    for _ in range(3):
        compiler.regex("a")
        with pytest.raises(GrammarError):
            compiler.json_schema({"type": 3})
    found = compiler.metrics()
    assert (found.hits, found.misses, found.refusals) == (4, 2, {"E802": 3})
    assert (found.kept, found.queue, found.evictions) == (2, 0, 0)
    assert found.seconds > 0
    assert found.bytes == compiler.bytes


def test_evictions_are_counted() -> None:
    compiler = Compiler(VOCABULARY, memory=1)
    for number in range(5):
        compiler.regex(f"a{number}")
    assert (compiler.metrics().evictions, compiler.metrics().kept) == (5, 0)


def test_eight_threads_miss_nothing() -> None:
    compiler = Compiler(VOCABULARY, memory=2**19)
    rounds, names = 60, 7
    failed: list[BaseException] = []
    is_over = threading.Event()

    def watch() -> None:
        before = compiler.metrics()
        while not is_over.is_set():
            after = compiler.metrics()
            try:
                assert after.hits >= before.hits
                assert after.misses >= before.misses
                assert after.seconds >= before.seconds
                assert 0 <= after.queue <= 8
            except AssertionError as error:
                failed.append(error)
            before = after

    def request(thread: int) -> None:
        for number in range(rounds):
            if number % 10 == 9:
                with pytest.raises(GrammarError):
                    compiler.regex(f"({thread}")
                continue
            grammar = compiler.regex(f"[a-f]{{{1 + (number + thread) % names}}}")
            engine = Engine(grammar, VOCABULARY)
            engine.compute_allowed_token_ids()
            engine.try_accept_new_token(ord("a"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(request, range(8)))
    is_over.set()
    watcher.join()
    found = compiler.metrics()
    assert not failed
    assert found.hits + found.misses == 8 * rounds
    assert sum(found.refusals.values()) == 8 * rounds // 10
    assert found.queue == 0


def test_a_late_grammar_is_an_error_and_is_kept_for_the_next_request() -> None:
    with Compiler(VOCABULARY, workers=1) as compiler:
        with pytest.raises(DeadlineError, match=r"0\.001 seconds") as caught:
            compiler.submit("regex", SLOW, deadline=0.001).result()
        assert isinstance(caught.value, TimeoutError)
        assert compiler.metrics().queue == 1
        grammar = compiler.submit("regex", SLOW, deadline=60).result()
        assert compiler.regex(SLOW) is grammar
        found = compiler.metrics()
        assert (found.hits, found.misses, found.queue) == (2, 1, 0)
        assert found.refusals == {"DeadlineError": 1}


def test_deadlines_while_compiling_hold_for_each_request() -> None:
    with Compiler(VOCABULARY, workers=1) as compiler:
        began = time.monotonic()
        late = [compiler.submit("regex", SLOW, deadline=0.01) for _ in range(8)]
        in_time = compiler.submit("regex", SLOW, deadline=60)
        for each in late:
            assert isinstance(each.exception(), DeadlineError)
        assert time.monotonic() - began < 30
        assert in_time.result() is compiler.regex(SLOW)


def test_a_refusal_in_time_is_that_refusal() -> None:
    with Compiler(VOCABULARY, workers=1) as compiler:
        future = compiler.submit("json_schema", {"type": 3}, deadline=60)
        assert isinstance(future.exception(), GrammarError)
        assert compiler.metrics().refusals == {"E802": 1}


def test_what_is_cancelled_by_the_end_is_cancelled_for_who_waits_with_a_deadline() -> None:
    compiler = Compiler(VOCABULARY, workers=1)
    compiler.submit("regex", SLOW)
    waiting = compiler.submit("regex", f"{SLOW}a", deadline=60)
    compiler.close()
    assert waiting.cancelled() or waiting.exception() is not None


def test_without_workers_nothing_is_late() -> None:
    assert Compiler(VOCABULARY).submit("regex", "a", deadline=0.0).result().start


def test_a_vocabulary_decodes() -> None:
    vocabulary = Vocabulary({0: b"a", 1: b"\xc3"}, eos_token_id=2, special_tokens={"<x>": 3})
    assert vocabulary.decode([0, 1, 3, 0]) == b"a\xc3<x>a"
    assert vocabulary.decode([]) == b""
    assert VOCABULARY.decode(VOCABULARY.encode("ab é")) == "ab é".encode()
    with pytest.raises(UnknownTokenError):
        vocabulary.decode([0, 9])
