"""What ``kbnf test`` finds for one grammar: examples beside and inside it, plays, coverage."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_cli.console import Console
from kbnf_cli.escaped import escaped
from kbnf_cli.files import STDIN, read_bytes
from kbnf_cli.inputs import BUILT_IN, Inputs, read_vocabulary
from kbnf_core.diagnostics import Diagnostic
from kbnf_core.errors import GrammarError, SourceError
from kbnf_core.source import Source

if TYPE_CHECKING:
    from kbnf_core import Grammar, Vocabulary
    from kbnf_core.examples.coverage import Coverage
    from kbnf_core.examples.model import Example, Expectation, Outcome

PLAY_SUFFIX = ".play.jsonl"


@dataclass(frozen=True, slots=True)
class Case:
    """One test. ``kind`` is accept, reject, next or play; ``status`` passed, failed or skipped.

    ``offset``: how many bytes of a text that should be accepted were right, None otherwise.
    """

    kind: str
    name: str
    subject: str
    why: str
    status: str
    message: str
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Covered:
    """What the examples of a grammar use, and its text."""

    source: Source
    coverage: "Coverage"


@dataclass(frozen=True, slots=True)
class Suite:
    """The tests of one grammar; ``errors`` say why the grammar cannot be used, if it cannot."""

    name: str
    cases: tuple[Case, ...] = ()
    errors: tuple[Diagnostic, ...] = ()
    covered: Covered | None = None

    def count(self, status: str) -> int:
        """Return the number of tests with this status."""
        return sum(case.status == status for case in self.cases)

    @property
    def fails(self) -> bool:
        """Whether something is wrong."""
        return bool(self.errors) or self.count("failed") > 0


def run_suite(
    console: Console,
    inputs: Inputs,
    path: Path,
    vocabulary: "Vocabulary",
    with_coverage: bool,
) -> Suite:
    """Run all tests of the grammar at ``path``.

    Raises ``ExampleError`` and ``RecordingError`` for malformed ones, ``SourceError`` and what
    ``load_vocabulary`` raises for files that cannot be read.
    """
    name = inputs.name_of(path).as_posix()
    try:
        grammar = inputs.grammar(path)
    except GrammarError as error:
        return Suite(name, errors=error.diagnostics)
    outcomes = _outcomes(grammar, path, vocabulary)
    cases = [*map(_case, outcomes), *_plays(console, path, name)]
    covered = _cover(grammar, outcomes) if with_coverage else None
    return Suite(name, tuple(cases), (), covered)


def _outcomes(grammar: "Grammar", path: Path, vocabulary: "Vocabulary") -> "list[Outcome]":
    from kbnf_core import Engine
    from kbnf_core.examples.run import run_examples

    examples = list(_examples(grammar, path))
    return list(run_examples(Engine(grammar, vocabulary), examples)) if examples else []


def _examples(grammar: "Grammar", path: Path) -> "Iterator[Example | Expectation]":
    from kbnf_core.examples.comments import read_comments
    from kbnf_core.examples.toml import examples_path, read_toml

    beside = examples_path(path)
    if path != STDIN and beside.exists():
        yield from read_toml(_read_text(beside), str(beside))
    yield from read_comments(grammar.reading.document)


def _case(outcome: "Outcome") -> Case:
    from kbnf_core.examples.model import Example

    example, status = outcome.example, outcome.status.value
    if isinstance(example, Example):
        kind = "accept" if example.accepted else "reject"
        subject = escaped(example.data)
        message, offset = outcome.message, outcome.offset
        return Case(kind, example.name, subject, example.why, status, message, offset)
    what = example.what if isinstance(example.what, int) else escaped(example.what)
    subject = f"{what} after {escaped(example.after)}"
    return Case("next", example.name, subject, "", status, outcome.message)


def _cover(grammar: "Grammar", outcomes: "list[Outcome]") -> Covered | None:
    from kbnf_core.examples.coverage import cover
    from kbnf_core.examples.model import Example, Status

    rules = grammar.reading.grammar
    if rules is None:
        return None
    passed = [each.example for each in outcomes if each.status is Status.PASSED]
    texts = [each.data for each in passed if isinstance(each, Example) and each.accepted]
    return Covered(grammar.source, cover(rules, texts))


def _plays(console: Console, path: Path, name: str) -> Iterator[Case]:
    """Play the plays beside a grammar again: ``NAME.play.jsonl`` and ``NAME.*.play.jsonl``."""
    if path == STDIN:
        return
    for file in sorted(path.parent.glob(f"{path.stem}.*")):
        if file.name.endswith(PLAY_SUFFIX):
            yield _play(console, file, path, name)


def _play(console: Console, file: Path, path: Path, name: str) -> Case:
    from kbnf_cli.grammars import open_grammar
    from kbnf_core import Engine
    from kbnf_core.recordings import read_recording, replay

    play = read_recording(_read_text(file), str(file))
    setting = play.setting
    chosen = setting.vocabulary
    chosen = chosen if chosen == BUILT_IN else str(file.parent / chosen)
    try:
        grammar = open_grammar(path, name, setting.start, setting.finish)
    except GrammarError as error:
        return Case("play", file.name, "", "", "failed", str(error))
    vocabulary = read_vocabulary(console, chosen, setting.eos or ())
    divergences = replay(play, Engine(grammar, vocabulary)).divergences
    message = "; ".join(f"line {each.event + 2}: {each.message}" for each in divergences)
    return Case("play", file.name, "", "", "failed" if divergences else "passed", message)


def _read_text(file: Path) -> str:
    try:
        return read_bytes(file).decode("utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(str(file), f"it is not UTF-8: {error.reason}") from error
