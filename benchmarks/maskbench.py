"""JSON Schemas side by side with llguidance: verdicts, build times, mask times.

``python -m benchmarks.maskbench FOLDER`` reads the schemas of a maskbench folder; each file has
``schema`` and ``tests``, values that are ``valid`` or not. A schema passes when it compiles, every
valid value is accepted (as JSON without indentation, members in the order of the file) and every
invalid one rejected. Both engines mask the same vocabulary, tekken of mistral-common. Times are
those of the processor.
"""

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import click
import numpy as np
import numpy.typing as npt

from benchmarks.engines import LLGuidance
from benchmarks.measure import PROCESSOR_CLOCK
from benchmarks.vocabulary import Setting, read_setting
from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.languages import JSON_SCHEMA
from kbnf_core.languages.json_schema import Options, Standard, Whitespace
from kbnf_core.languages.json_schema.options import as_mapping
from kbnf_core.text.errors import EngineError, KbnfError

PASS_BAR, BUILD_BAR, MASK_BAR = 0.95, 5.0, 1.0


def grammar_of(text: str, options: Options | None = None) -> Grammar:
    """Return the grammar of a schema, read with these options."""
    return Grammar.read(text, JSON_SCHEMA, options=as_mapping(options))


@dataclass(frozen=True, slots=True)
class Case:
    """One file: its name, its schema, and its values with their verdicts."""

    name: str
    schema: Any
    values: tuple[tuple[str, bool], ...]


@dataclass(slots=True)
class Outcome:
    """What one engine did with one case: ``reason`` is empty if it passed; times in seconds."""

    reason: str = ""
    build: float = 0.0
    steps: list[float] = field(default_factory=list)
    wrongly_accepted: int = 0


class Session(Protocol):
    """An engine at the beginning of a text; ``bits``: int32 words, the last mask."""

    bits: npt.NDArray[np.int32]

    def mask(self) -> None:
        """Work out which tokens can come."""

    def prepare(self) -> None:
        """Work ahead, where the engine can."""

    def accept(self, token: int) -> bool:
        """Append a token; False if it cannot come."""

    def complete(self) -> bool:
        """Tell whether the text may end here."""


Build = Callable[[Any], Callable[[], Session]]
"""From a schema to a function that begins a text. Raises ``Refused``."""


class RefusedError(Exception):
    """The engine does not take the schema."""


class _OurSession:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.bits = np.zeros((engine.vocabulary.size + 31) // 32, np.int32)

    def mask(self) -> None:
        self._engine.fill_bitmask(self.bits)

    def prepare(self) -> None:
        self._engine.prepare()

    def accept(self, token: int) -> bool:
        try:
            self._engine.try_accept_new_token(token)
        except EngineError:
            return False
        return True

    def complete(self) -> bool:
        return self._engine.is_finished() or self._engine.can_finish()


def session_of(engine: Engine) -> Session:
    """Return a session by an engine of this library."""
    return _OurSession(engine)


def ours(
    vocabulary: Vocabulary, standard: Standard = Standard.JSON_SCHEMA, ahead: bool = False
) -> Build:
    """Return the builder of this library; whitespace as llguidance has it."""
    options = Options(whitespace=Whitespace.FLEXIBLE, standard=standard)

    def build(schema: Any) -> Callable[[], Session]:
        try:
            grammar = grammar_of(json.dumps(schema), options)
            _ = grammar.tables
        except KbnfError as error:
            raise RefusedError(str(error)) from None
        return lambda: session_of(Engine(grammar, vocabulary, ahead=ahead))

    return build


class _PeerSession:
    def __init__(self, matcher: Any, bits: Any, fill: Callable[[Any, Any, int], None]) -> None:
        self._matcher = matcher
        self.bits = bits[0]
        self._all_bits = bits
        self._fill = fill

    def mask(self) -> None:
        self._fill(self._matcher, self._all_bits, 0)

    def prepare(self) -> None:
        pass

    def accept(self, token: int) -> bool:
        return bool(self._matcher.try_consume_tokens([token]) == 1)

    def complete(self) -> bool:
        return bool(self._matcher.is_accepting())


def theirs(setting: Setting) -> Build:
    """Return the builder of llguidance."""
    matcher_class = import_module("llguidance").LLMatcher
    numpy_side = import_module("llguidance.numpy")
    bits = numpy_side.allocate_token_bitmask(1, setting.vocabulary.size)
    fill = numpy_side.fill_next_token_bitmask
    # The adapter of the other benchmark has built it already.
    tokenizer = LLGuidance(setting).tokenizer

    def build(schema: Any) -> Callable[[], Session]:
        # To make a matcher is to compile the schema: once. A text begins with its reset.
        grammar = matcher_class.grammar_from_json_schema(schema)
        matcher = matcher_class(tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise RefusedError(matcher.get_error())

        def begin() -> Session:
            matcher.reset()
            return _PeerSession(matcher, bits, fill)

        return begin

    return build


def read_cases(folder: Path, only: str) -> Iterator[Case]:
    """Yield the cases of a folder, in order of their names."""
    for path in sorted(folder.glob("*.json")):
        if only in path.name:
            yield read_case(path)


def read_case(path: Path) -> Case:
    """Return the case of a file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    values = tuple(
        (json.dumps(test["data"], ensure_ascii=False), test["valid"]) for test in data["tests"]
    )
    return Case(path.stem, data["schema"], values)


def run_case(case: Case, build: Build, encode: Callable[[str], list[int]]) -> Outcome:
    """Build, and run every value token by token, with a mask before each."""
    outcome = Outcome()
    began = time.process_time()
    try:
        begin = build(case.schema)
        begin().mask()
    except RefusedError as error:
        outcome.reason = " ".join(str(error).split())
        return outcome
    finally:
        outcome.build = time.process_time() - began
    for text, valid in case.values:
        accepted = _accepts(begin(), encode(text), outcome.steps)
        if accepted != valid:
            outcome.reason = f"{'rejects' if valid else 'accepts'} {text[:60]}"
            outcome.wrongly_accepted += accepted
    return outcome


def _accepts(session: Session, tokens: Sequence[int], steps: list[float]) -> bool:
    for token in tokens:
        began = time.thread_time()
        session.mask()
        fits = session.accept(token)
        steps.append(time.thread_time() - began - PROCESSOR_CLOCK)
        if not fits:
            return False
    return session.complete()


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--only", default="", help="Run the files whose names hold this text.")
@click.option("--repeat", default=2, help="Runs; the times are those of the last.")
def main(folder: Path, only: str, repeat: int) -> None:
    """Run the schemas of FOLDER through this library and llguidance."""
    setting = read_setting()
    _ = setting.vocabulary.trie
    builds = {"kbnf-toolkit": ours(setting.vocabulary), "llguidance": theirs(setting)}
    cases = list(read_cases(folder, only))
    gc.collect()
    found: dict[str, list[Outcome]] = {name: [] for name in builds}
    for case in cases:
        # Engines take turns, so that what else the machine does troubles both alike.
        for name, build in builds.items():
            outcomes = [run_case(case, build, setting.encode) for _ in range(repeat)]
            found[name].append(outcomes[-1])
    _report(cases, found)
    mine = found["kbnf-toolkit"]
    passed = sum(not outcome.reason for outcome in mine) / len(mine)
    sys.exit(passed < PASS_BAR or any(outcome.wrongly_accepted for outcome in mine))


def _report(cases: Sequence[Case], found: dict[str, list[Outcome]]) -> None:
    print("| engine | pass | refused or wrong | wrongly accepted |\n|---|---|---|---|")
    for name, outcomes in found.items():
        failed = sum(bool(outcome.reason) for outcome in outcomes)
        wrong = sum(outcome.wrongly_accepted for outcome in outcomes)
        print(f"| {name} | {len(outcomes) - failed} of {len(outcomes)} | {failed} | {wrong} |")
    for name, outcomes in found.items():
        print(f"\nNot passing, {name}:")
        for case, outcome in zip(cases, outcomes, strict=True):
            if outcome.reason:
                print(f"  {case.name}: {outcome.reason[:150]}")
    _report_times(found)


def _report_times(found: dict[str, list[Outcome]]) -> None:
    """Compare times over the cases that both engines take."""
    pairs = list(zip(*found.values(), strict=True))
    both = [pair for pair in pairs if all(outcome.steps for outcome in pair)]
    print("\n| milliseconds | kbnf-toolkit | llguidance | ratio | bar |\n|---|---|---|---|---|")
    for label, quantile in (("p50", 0.5), ("p90", 0.9)):
        a, b = (_quantile([pair[i].build for pair in both], quantile) for i in (0, 1))
        bar = f"{BUILD_BAR:g}" if label == "p50" else ""
        times = f"{1e3 * a:.2f} | {1e3 * b:.2f} | {a / b:.2f}"
        print(f"| schema to first mask, {label} | {times} | {bar} |")
    a, b = (statistics.fmean(s for pair in both for s in pair[i].steps) for i in (0, 1))
    print(f"| mask + accept, mean | {1e3 * a:.4f} | {1e3 * b:.4f} | {a / b:.2f} | {MASK_BAR:g} |")


def _quantile(values: list[float], quantile: float) -> float:
    return sorted(values)[int(quantile * (len(values) - 1))]


if __name__ == "__main__":
    main()
