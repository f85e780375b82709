"""``kbnf trace``: the effect of a grammar on a model.

Tests: tests/cli/test_trace.py
"""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.escaped import shown
from kbnf_cli.inputs import BUILT_IN, GRAMMAR, Inputs, open_engine
from kbnf_cli.options import (
    as_value,
    common_options,
    examples,
    format_option,
    input_options,
    stdin_option,
)
from kbnf_core.text.diagnostics.text import count_of
from kbnf_core.text.errors import SourceError

if TYPE_CHECKING:
    from pathlib import Path

    from kbnf_core.trace import Advice, Candidate, Change, Trace
    from kbnf_core.vocab.vocabulary import Vocabulary

SCHEMA = "kbnf.trace/1"

_MOST_LINES = 20
"""Changes that are listed as text."""


@click.command(
    epilog=examples(
        "kbnf trace g.kbnf log.jsonl --vocab tokenizer.json",
        "kbnf trace g.kbnf log.jsonl --vocab tokenizer.json --format json",
    )
)
@click.argument("grammar", metavar="GRAMMAR", type=GRAMMAR)
@click.argument("log", metavar="LOG", type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--after", metavar="TEXT", help="The text before the grammar.")
@format_option(["text", "json"], "Output format.")
@input_options
@stdin_option
@common_options
@click.pass_obj
@as_value(Inputs)
def trace(
    console: Console, inputs: Inputs, grammar: "Path", log: str, after: str | None, format_: str
) -> int:
    """Show where a grammar changed the output of a model.

    LOG has JSON lines: one for each token, with `token_id` or `token`, `logprob` and
    `top_logprobs` (of the model's distribution before the mask); or whole responses with log
    probabilities, as OpenAI, vLLM and llama.cpp's server write them. Without --vocab, tokens are
    read from their `bytes` or texts. Exits with status 1 if the grammar refuses a token of the
    log, or if a text is incomplete.
    """
    from kbnf_core import Engine
    from kbnf_core.trace import LogError, read_log
    from kbnf_core.trace import trace as trace_log

    plain = open_engine(console, inputs, grammar)
    engine = Engine(plain.grammar, plain.vocabulary, after=after)
    # Ids of a log are those of its model, of which the built-in vocabulary knows nothing.
    vocabulary = None if plain.vocabulary.name == BUILT_IN else plain.vocabulary
    try:
        with click.open_file(log, encoding="utf-8", errors="replace") as lines:
            result = trace_log(engine, read_log(lines, vocabulary))
    except LogError as error:
        raise SourceError("<stdin>" if log == "-" else log, str(error)) from None
    except OSError as error:
        raise SourceError(log, error.strerror or str(error)) from None
    if format_ == "json":
        console.text(json.dumps(_value(result, vocabulary)) + "\n")
    else:
        console.text("".join(f"{line}\n" for line in _lines(result, vocabulary)))
    for line in result.rejected:
        console.note(f"line {line}: the grammar does not accept this token; its text ends here")
    for number in result.unfinished:
        console.note(f"text {number} ends before the grammar does")
    return Exit.FINDINGS if result.rejected or result.unfinished else Exit.CLEAN


def _lines(trace: "Trace", vocabulary: "Vocabulary | None") -> list[str]:
    from kbnf_core.trace import advise

    counts = f"{count_of(trace.steps, 'token')} in {count_of(trace.texts, 'text')}"
    lines = [f"{counts}; the grammar removed the choice of {len(trace.changes):,}"]
    lines.extend(_line(change) for change in trace.changes[:_MOST_LINES])
    if len(trace.changes) > _MOST_LINES:
        lines.append(f"  and {len(trace.changes) - _MOST_LINES:,} more (--format json has all)")
    for rule, removed in _by_removed(trace):
        count = count_of(trace.changes_by_rule[rule], "choice")
        lines.append(f"rule {rule or '(end)'}: {count} removed, {removed:.3f} of probability")
    if trace.loops:
        tokens = count_of(sum(trace.loops), "token")
        lines.append(f"loops of whitespace: {len(trace.loops):,}, {tokens} in all")
    lines.append(f"bytes: {trace.bytes:,}, of which {trace.forced_bytes:,} were forced")
    if vocabulary is None:
        lines.append("how the tokenizer cuts texts is not known without --vocab")
    elif vocabulary.can_encode:
        others = count_of(trace.noncanonical, "token")
        lines.append(f"{others} other than the tokenizer writes itself")
    advice = advise(trace)
    return [*lines, *(["what to change:"] if advice else ()), *map(_advice, advice)]


def _advice(advice: "Advice") -> str:
    where = f"  in {count_of(advice.count, 'text')}"
    match advice.kind:
        case "think":
            return f"{where} the model began with words: let it think first (`--after`, `after=`)"
        case "order":
            return f"{where} it wanted the member `{shown(advice.wanted.encode())}` earlier"
    wanted, written = shown(advice.wanted.encode()), shown(advice.written.encode())
    return f"{where} it wanted a member `{wanted}...` where it had to write `{written}`"


def _by_removed(trace: "Trace") -> list[tuple[str, float]]:
    return sorted(trace.removed.items(), key=lambda pair: -pair[1])


def _line(change: "Change") -> str:
    margin = "" if change.margin is None else f", margin {change.margin:.2f}"
    own = ", not the tokenizer's own" if change.is_canonical is False else ""
    choice, taken = (_name(candidate) for candidate in (change.choice, change.taken))
    return (
        f"  text {change.text} token {change.step}: {choice} removed, {taken} taken{margin},"
        f" removed mass {change.removed:.3f}, in {change.rule or '(end)'}{own}"
    )


def _name(candidate: "Candidate") -> str:
    if not candidate.data:
        return (
            "an unknown token"
            if candidate.token_id is None
            else f"the special token {candidate.token_id}"
        )
    return f"`{shown(candidate.data)}`"


def _value(trace: "Trace", vocabulary: "Vocabulary | None") -> dict[str, object]:
    """Return the object that ``schemas/trace.schema.json`` describes."""
    from kbnf_core.trace import advise

    by_rule = trace.changes_by_rule
    return {
        "schema": SCHEMA,
        "texts": trace.texts,
        "steps": trace.steps,
        "changes": [
            {
                name: getattr(change, name)
                for name in ("text", "step", "margin", "removed", "rule", "is_canonical")
            }
            | {
                "choice": change.choice.token_id,
                "taken": change.taken.token_id,
                "choice_text": _text(change.choice),
                "taken_text": _text(change.taken),
            }
            for change in trace.changes
        ],
        "rules": [
            {"rule": rule, "changes": by_rule[rule], "removed": removed}
            for rule, removed in _by_removed(trace)
        ],
        "loops": trace.loops,
        "bytes": trace.bytes,
        "forced_bytes": trace.forced_bytes,
        "noncanonical": trace.noncanonical if vocabulary and vocabulary.can_encode else None,
        "rejected": trace.rejected,
        "unfinished": trace.unfinished,
        "advice": [asdict(advice) for advice in advise(trace)],
    }


def _text(candidate: "Candidate") -> str | None:
    return candidate.data.decode("utf-8", "replace") if candidate.data else None
