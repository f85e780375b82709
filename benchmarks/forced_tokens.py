"""Forced tokens: how much of real documents is foreseen, and whether it is what comes.

``python -m benchmarks.forced_tokens [FOLDER]`` goes through a valid document of each schema, asks
this library and llguidance before every token what must come, and compares that with the document
as its tokenizer writes it. The mask of each position is known by then, as it is in a server, and
the tokenizer, which is loaded when it is first needed, is there.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import click
import numpy as np

from benchmarks.drawn import default_cases
from benchmarks.engines import LLGuidance
from benchmarks.measure import CLOCK
from benchmarks.vocabulary import EOS, Setting, read_setting
from kbnf_core import Config, Engine, Grammar
from kbnf_core.text.errors import KbnfError


@dataclass(slots=True)
class Found:
    """``foreseen``: tokens whose turn was foreseen. ``wrong``: answers that did not come."""

    foreseen: int = 0
    wrong: int = 0
    times: list[float] = field(default_factory=list)


class Matcher(Protocol):
    """An engine at a place in one document."""

    def forced(self) -> Sequence[int]:
        """Return what must come."""

    def accept(self, token: int) -> bool:
        """Append a token and compute the mask; tell whether it could come."""


class Ours:
    """The library measured; see ``Matcher``."""

    def __init__(self, schema: Any, setting: Setting) -> None:
        grammar = Grammar.from_json_schema(schema)
        self._engine = Engine(grammar, setting.vocabulary, Config(finish="eos"))
        self._engine.compute_allowed_token_ids()
        self.forced = self._engine.forced_tokens

    def accept(self, token: int) -> bool:
        """See ``Matcher``."""
        fits = self._engine.accept_tokens([token]) == 1
        self._engine.compute_allowed_token_ids()
        return fits


class Theirs:
    """llguidance; see ``Matcher``."""

    def __init__(self, schema: Any, tokenizer: Any) -> None:
        matcher = import_module("llguidance").LLMatcher
        grammar = matcher.grammar_from_json_schema(json.dumps(schema))
        self._matcher = matcher(tokenizer, grammar, log_level=0)
        if self._matcher.is_error():
            raise ValueError(self._matcher.get_error())
        self.forced = self._matcher.compute_ff_tokens

    def accept(self, token: int) -> bool:
        """See ``Matcher``."""
        return bool(self._matcher.consume_token(token))


def follow(matcher: Matcher, tokens: Sequence[int], eos: int) -> Found | None:
    """Go through a document; None where the engine does not take it."""
    found = Found()
    coming = [*tokens, eos]
    for place, token in enumerate(tokens):
        began = perf_counter()
        forced = list(matcher.forced())
        found.times.append(1e6 * (perf_counter() - began - CLOCK))
        found.foreseen += forced[:1] == [token]
        found.wrong += forced != coming[place : place + len(forced)]
        if not matcher.accept(token):
            return None
    return found


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True))
@click.option("--limit", default=100, help="Documents at most.")
def main(folder: Path | None, limit: int) -> None:
    """Measure; the status is 1 where a token was foreseen that does not come."""
    setting = read_setting()
    theirs = LLGuidance(setting).tokenizer
    setting.vocabulary.encode("")
    count = 0
    whole: dict[str, Found] = {"kbnf-toolkit": Found(), "llguidance": Found()}
    for case in default_cases(folder):
        texts = [text for text, valid in case.values if valid]
        if not texts or count == limit:
            continue
        tokens = setting.encode(max(texts, key=len))
        try:
            matchers = Ours(case.schema, setting), Theirs(case.schema, theirs)
        except (KbnfError, ValueError):
            continue
        results = [follow(matcher, tokens, EOS) for matcher in matchers]
        if None in results:
            continue
        count += 1
        for total, found in zip(whole.values(), results, strict=True):
            assert found is not None  # noqa: S101 - looked at above
            total.foreseen += found.foreseen
            total.wrong += found.wrong
            total.times += found.times
    print(f"{count} documents\n\n| | foreseen | wrong | us a token: p50 | p99 | mean |")
    print("|---|---|---|---|---|---|")
    for name, found in whole.items():
        p50, p99 = np.percentile(found.times, (50, 99))
        share = found.foreseen / len(found.times)
        mean = np.mean(found.times)
        print(f"| {name} | {share:.1%} | {found.wrong} | {p50:.1f} | {p99:.1f} | {mean:.1f} |")
    raise SystemExit(bool(whole["kbnf-toolkit"].wrong))


if __name__ == "__main__":
    main()
