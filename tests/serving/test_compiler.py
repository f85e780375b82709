"""The compiler: each source once, refusals as values, bounded memory, processes of its own."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, cast

import pytest

import kbnf_core.processes
from kbnf_core import Compiler, Engine, Grammar, GrammarError, KbnfError, Limits, Vocabulary
from kbnf_core.compiler import (
    STRIKES,
    Job,
    QuarantinedError,
    SentGrammar,
    WorkerError,
    _compiled,
    _CompilerCounts,
    compile_job,
)
from kbnf_core.processes import Pool, Process, _raised, pack, unpack
from kbnf_core.text.errors import ConfigError, InternalError

VOCABULARY = Vocabulary.bytes()
SCHEMA = {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}


def pool_of(compiler: Compiler) -> Pool:
    assert compiler._pool is not None
    return compiler._pool


def pid_of(compiler: Compiler) -> int:
    pid = pool_of(compiler).processes[0].pid
    assert pid is not None
    return pid


def takes(grammar: Grammar, text: str) -> bool:
    engine = Engine(grammar, VOCABULARY)
    return engine.accept_tokens(text.encode()) == len(text.encode()) and engine.can_finish()


@pytest.fixture(scope="module", params=[0, 1], ids=["here", "worker"])
def compiler(request: pytest.FixtureRequest) -> Any:
    with Compiler(VOCABULARY, workers=request.param) as made:
        yield made


def test_every_kind_of_source_is_compiled(compiler: Compiler) -> None:
    assert takes(compiler.json_schema(SCHEMA), '{"b": 12}')
    assert not takes(compiler.json_schema(SCHEMA), '{"b": "c"}')
    assert takes(compiler.json_schema('{"const": 1}'), "1")
    if find_spec("pydantic"):
        assert takes(compiler.json_schema(set[str]), '["a"]')
    assert takes(compiler.regex(r"[a-z]+\d{2}['\"é]"), "abc12é")
    assert not takes(compiler.regex(r"[a-z]+"), "a1")
    assert takes(compiler.choice(["yes", "no", 'a"\\b']), 'a"\\b')
    assert not takes(compiler.choice(["yes", "no"]), "ye")
    assert takes(compiler.grammar("start ::= 'a'+;", finish="eos"), "aaa")
    assert takes(compiler.grammar('root ::= "a" | "b"', "gbnf"), "b")
    content = {"type": "json_schema", "json_schema": SCHEMA}
    tag = {"format": {"type": "tag", "begin": "<t>", "content": content, "end": "</t>"}}
    assert takes(compiler.structural_tag(tag), '<t>{"b": 1}</t>')
    assert compiler.structural_tag(json.dumps(tag)) is compiler.structural_tag(tag)


def test_the_same_source_is_the_same_grammar(compiler: Compiler) -> None:
    assert compiler.regex("a+") is compiler.regex("a+")
    assert compiler.json_schema(SCHEMA) is compiler.json_schema(dict(SCHEMA))
    assert compiler.submit(compiler.regex, "a+").result() is compiler.regex("a+")
    assert compiler.choice(["a"]) is compiler.choice(("a",))
    assert compiler.grammar("start ::= 'a';") is not compiler.grammar(
        "start ::= 'a';", finish="eos"
    )


def test_a_refusal_is_a_value(compiler: Compiler) -> None:
    for kind, source in [("regex", "("), ("json_schema", {"type": 3}), ("grammar", "start ::= ;x")]:
        error = compiler.submit(kind, source).exception()
        assert isinstance(error, GrammarError)
        assert error.diagnostics
    with pytest.raises(GrammarError):
        compiler.regex("(")
    with pytest.raises(ConfigError):
        compiler.grammar("x", "yacc")
    with pytest.raises(ConfigError):
        compiler.submit("close", "x")
    assert takes(compiler.regex("b"), "b")


@pytest.mark.parametrize("workers", [0, 1])
def test_work_has_a_bound(workers: int) -> None:
    with Compiler(VOCABULARY, workers=workers, limits=Limits(work=2_000)) as compiler:
        error = compiler.submit("regex", "([a-z]{1,60}x){40}").exception()
        assert isinstance(error, GrammarError)


def test_a_grammar_from_a_worker_is_the_same() -> None:
    source = "start ::= #'[a-z]{2}' (',' start)?; (* kbnf: finish=eos *)"
    with Compiler(VOCABULARY, workers=1) as compiler:
        far = compiler.grammar(source)
    near = Grammar(source)
    assert far.tables.dump() == near.tables.dump()
    assert (far.start, far.finish, far.source.text) == (near.start, near.finish, source)


def test_what_was_not_used_for_longest_is_forgotten() -> None:
    compiler = Compiler(VOCABULARY, memory=100_000)
    first = compiler.regex("a{100}")
    for number in range(60):
        compiler.regex(f"a{{{number + 1}}}b")
        assert compiler.regex("a{100}") is first
    assert compiler._kept.keys() & {compiler._job("regex", "a{100}", {})}
    assert len(compiler._kept) < 30
    assert takes(first, "a" * 100)


def test_a_full_cache_is_not_measured_whole_for_each_grammar(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or a server's loop waits for longer the more grammars are kept."""
    compiler = Compiler(VOCABULARY)
    for number in range(60):
        compiler.regex(f"a{{{number}}}b")
    measured: list[object] = []

    def measure(future: object) -> int:
        measured.append(future)
        return 0

    monkeypatch.setattr("kbnf_core.compiler._grammar_bytes", measure)
    compiler.regex("c")
    assert 1 <= len(measured) < 20


def test_masks_that_are_computed_later_are_found_in_turn() -> None:
    compiler = Compiler(Vocabulary.bytes(), memory=200_000)
    grammars = [compiler.regex(f"[a-z]{{2,{number}}}x") for number in range(10, 20)]
    for grammar in grammars:
        engine = Engine(grammar, compiler.vocabulary, ahead=False)
        for token in b"abcdefg":
            engine.compute_allowed_token_ids()
            engine.try_accept_new_token(token)
    for number in range(20):
        compiler.choice([str(number)])
    assert compiler._bytes == compiler.bytes


def test_masks_count_as_memory() -> None:
    compiler = Compiler(Vocabulary.bytes(), memory=10**9)
    grammar = compiler.regex("[a-f]{3}x{5}")
    before = compiler.bytes
    engine = Engine(grammar, compiler.vocabulary)
    for token in b"abcxx":
        engine.compute_allowed_token_ids()
        engine.try_accept_new_token(token)
    assert compiler.bytes > before


def test_a_closed_compiler_ends_its_processes() -> None:
    compiler = Compiler(VOCABULARY, workers=2)
    futures = [compiler.submit("regex", f"([a-z]{{1,9}}[0-9]){{{n}}}") for n in range(20, 26)]
    futures[0].result()
    compiler.close()
    assert all(process.pid is None for process in pool_of(compiler).processes)
    assert all(future.done() for future in futures)
    with pytest.raises(ConfigError, match="closed"):
        compiler.regex("a")
    compiler.close()


def test_a_worker_that_dies_is_replaced() -> None:
    with Compiler(VOCABULARY, workers=1) as compiler:
        compiler.regex("a")
        os.kill(pid_of(compiler), getattr(signal, "SIGKILL", signal.SIGTERM))
        assert takes(compiler.regex("b"), "b")


POISON = r'{"const": "\ud800"}'


class Fatal:
    """An option that ends the process which reads it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (9,)


def begun(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which the processes are added that are begun from now on."""
    found = list[int]()

    class Child(kbnf_core.processes._Child):
        def __init__(self, environment: dict[str, str], *, keeps_stderr: bool) -> None:
            super().__init__(environment, keeps_stderr=keeps_stderr)
            found.append(self.popen.pid)

    monkeypatch.setattr("kbnf_core.processes._Child", Child)
    return found


def test_a_request_with_half_of_a_surrogate_pair_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    processes = begun(monkeypatch)
    with Compiler(VOCABULARY, workers=1) as compiler:
        for kind, source in [
            ("json_schema", POISON),
            ("json_schema", POISON),
            ("regex", "a\ud800"),
            ("choice", ["\ud800"]),
            ("grammar", "(* \ud800 *) start ::= 'a';"),
            ("structural_tag", {"format": {"type": "const_string", "value": "\ud800"}}),
        ]:
            error = compiler.submit(kind, source).exception()
            assert isinstance(error, GrammarError)
            assert "surrogate" in str(error)
    assert len(processes) == 1


def test_an_exception_is_a_value_and_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def fail(*source: object, **_: object) -> Grammar:
        calls.append(source)
        raise TypeError("unhashable type: 'dict'")

    monkeypatch.setattr(Grammar, "read_with", fail)
    compiler = Compiler(VOCABULARY)
    for _ in range(3):
        error = compiler.submit("regex", "a").exception()
        assert isinstance(error, InternalError)
        assert "TypeError: unhashable type: 'dict' at test_compiler.py:" in str(error)
        assert "a bug in kbnf" in str(error)
    assert len(calls) == 1


class Answering:
    """Stands for a process: does the call here, and sends and receives as a process does."""

    def spent(self) -> float:
        """Return no time."""
        return 0.0

    def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        """Do a call."""
        try:
            return unpack(pack(function(*arguments)))
        except Exception as error:
            raise unpack(_raised(error))[0] from None


def test_every_exception_of_a_worker_is_an_error_of_this_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answered(make: Callable[..., Any]) -> object:
        monkeypatch.setattr(Grammar, "read_with", make)
        try:
            made = cast(Process, Answering())
            return _compiled(Job("regex", "a"), lambda grammar: grammar, _CompilerCounts(), made)
        except KbnfError as error:
            return error

    def fail(error: Exception) -> Callable[..., Any]:
        def make(*_: object, **options: object) -> Any:
            raise error

        return make

    unsendable = ConfigError("x")
    unsendable.__dict__["lock"] = threading.Lock()
    for error in (KeyError("x"), UnicodeEncodeError("utf-8", "a", 0, 1, "x"), unsendable):
        assert isinstance(answered(fail(error)), InternalError)
    assert isinstance(answered(fail(RecursionError())), KbnfError)
    assert isinstance(answered(lambda *_, **__: None), InternalError)
    assert isinstance(answered(lambda *_, **__: Grammar("start ::= 'a';")), Grammar)
    assert isinstance(compile_job(Job("regex", "a")), SentGrammar)


def test_a_source_that_ends_its_process_twice_is_refused_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    processes = begun(monkeypatch)
    fatal = Fatal()
    with Compiler(VOCABULARY, workers=1) as compiler:
        compiler.regex("a")
        for _ in range(3):
            error = compiler.submit("grammar", "start ::= 'a';", path=fatal).exception()
            assert isinstance(error, QuarantinedError)
        assert len(processes) == STRIKES
        assert takes(compiler.regex("b"), "b")
    assert len(processes) == STRIKES + 1


def test_a_process_that_cannot_be_started_is_no_fault_of_the_source(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Compiler(VOCABULARY, workers=1) as compiler:
        with monkeypatch.context() as patched:
            patched.setattr(sys, "executable", "/bin/false")
            error = compiler.submit("regex", "a").exception()
            assert isinstance(error, WorkerError)
            assert not isinstance(error, QuarantinedError)
        assert takes(compiler.regex("a"), "a")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_is_told_to_make_its_own_and_harms_none() -> None:
    program = """
        import os
        from kbnf_core import Compiler, Vocabulary
        from kbnf_core.text.errors import ConfigError
        with Compiler(Vocabulary.bytes(), workers=1) as compiler:
            compiler.regex("a")
            child = os.fork()
            if child == 0:
                try:
                    compiler.regex("b")
                except ConfigError as error:
                    compiler.close()
                    os.write(1, str(error).encode())
                    os._exit(3)
                os._exit(4)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            compiler.regex("c")
            print(status, compiler._pool.processes[0].pid is None)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert "make one in each process after forking" in done.stdout
    assert done.stdout.endswith("3 False\n")


@pytest.mark.parametrize(
    ("kind", "source", "options"),
    [
        ("regex", None, {}),
        ("regex", b"a", {}),
        ("regex", "a", {"flags": "i"}),
        ("choice", "abc", {}),
        ("choice", [1], {}),
        ("choice", ["a", None], {}),
        ("choice", None, {}),
        ("choice", [], {}),
        ("grammar", None, {}),
        ("grammar", "start ::= 'a';", {"finish": []}),
        ("structural_tag", b"", {}),
        ("structural_tag", {"format": {1, 2}}, {}),
        ("json_schema", {}, {"whitespace": []}),
        ("json_schema", {}, {"whitespace": {}}),
        ("json_schema", {}, {"whitespace": 3}),
        ("json_schema", {}, {"lossy": "yes"}),
        ("json_schema", {}, {"whitespace_pattern": 3}),
        ("json_schema", {}, {"limits": 3}),
        ("json_schema", {}, {"bogus": 3}),
        ("json_schema", {1: {2, 3}}, {}),
    ],
)
def test_arguments_of_other_types_are_refused_by_name(
    compiler: Compiler, kind: str, source: Any, options: dict[str, Any]
) -> None:
    with pytest.raises(ConfigError, match=" "):
        compiler.submit(kind, source, **options)


def test_a_job_whose_worker_dies_is_refused_and_can_be_tried_again() -> None:
    with Compiler(VOCABULARY, workers=1) as compiler:
        compiler.regex("a")
        future = compiler.submit("regex", "([a-z]{1,40}[0-9]){60}")
        threading.Timer(0.05, pool_of(compiler).processes[0].kill).start()
        error = future.exception()
        assert error is None or isinstance(error, KbnfError)
        assert takes(compiler.regex("b"), "b")


def test_workers_end_with_their_parent_and_import_none_of_its_program() -> None:
    program = """
        import os, sys
        from kbnf_core import Compiler, Vocabulary
        print("main", flush=True)
        compiler = Compiler(Vocabulary.bytes(), workers=1)
        compiler.regex("a")
        print(compiler._pool.processes[0].pid, flush=True)
        os._exit(0)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    words = done.stdout.split()
    assert words[0] == "main"
    assert len(words) == 2
    for _ in range(200):
        try:
            os.kill(int(words[1]), 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("the worker is still there")
