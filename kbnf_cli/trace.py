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


def _lines(found: "Trace", vocabulary: "Vocabulary | None") -> list[str]:
    from kbnf_core.trace import advise

    counts = f"{count_of(found.steps, 'token')} in {count_of(found.texts, 'text')}"
    lines = [f"{counts}; the grammar removed the choice of {len(found.changes):,}"]
    lines.extend(_line(change) for change in found.changes[:_MOST_LINES])
    if len(found.changes) > _MOST_LINES:
        lines.append(f"  and {len(found.changes) - _MOST_LINES:,} more (--format json has all)")
    for rule, removed in _by_removed(found):
        count = count_of(found.changes_by_rule[rule], "choice")
        lines.append(f"rule {rule or '(end)'}: {count} removed, {removed:.3f} of probability")
    if found.loops:
        tokens = count_of(sum(found.loops), "token")
        lines.append(f"loops of whitespace: {len(found.loops):,}, {tokens} in all")
    lines.append(f"bytes: {found.bytes:,}, of which {found.forced_bytes:,} were forced")
    if vocabulary is None:
        lines.append("how the tokenizer cuts texts is not known without --vocab")
    elif vocabulary.can_encode:
        others = count_of(found.noncanonical, "token")
        lines.append(f"{others} other than the tokenizer writes itself")
    advice = advise(found)
    return [*lines, *(["what to change:"] if advice else ()), *map(_advice, advice)]


def _advice(each: "Advice") -> str:
    where = f"  in {count_of(each.count, 'text')}"
    match each.kind:
        case "think":
            return f"{where} the model began with words: let it think first (`--after`, `after=`)"
        case "order":
            return f"{where} it wanted the member `{shown(each.wanted.encode())}` earlier"
    wanted, written = shown(each.wanted.encode()), shown(each.written.encode())
    return f"{where} it wanted a member `{wanted}...` where it had to write `{written}`"


def _by_removed(found: "Trace") -> list[tuple[str, float]]:
    return sorted(found.removed.items(), key=lambda each: -each[1])


def _line(change: "Change") -> str:
    margin = "" if change.margin is None else f", margin {change.margin:.2f}"
    own = ", not the tokenizer's own" if change.is_canonical is False else ""
    choice, taken = (_name(each) for each in (change.choice, change.taken))
    return (
        f"  text {change.text} token {change.step}: {choice} removed, {taken} taken{margin},"
        f" removed mass {change.removed:.3f}, in {change.rule or '(end)'}{own}"
    )


def _name(each: "Candidate") -> str:
    if not each.data:
        return "an unknown token" if each.token_id is None else f"the special token {each.token_id}"
    return f"`{shown(each.data)}`"


def _value(found: "Trace", vocabulary: "Vocabulary | None") -> dict[str, object]:
    """Return the object that ``schemas/trace.schema.json`` describes."""
    from kbnf_core.trace import advise

    by_rule = found.changes_by_rule
    return {
        "schema": SCHEMA,
        "texts": found.texts,
        "steps": found.steps,
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
            for change in found.changes
        ],
        "rules": [
            {"rule": rule, "changes": by_rule[rule], "removed": removed}
            for rule, removed in _by_removed(found)
        ],
        "loops": found.loops,
        "bytes": found.bytes,
        "forced_bytes": found.forced_bytes,
        "noncanonical": found.noncanonical if vocabulary and vocabulary.can_encode else None,
        "rejected": found.rejected,
        "unfinished": found.unfinished,
        "advice": [asdict(each) for each in advise(found)],
    }


def _text(each: "Candidate") -> str | None:
    return each.data.decode("utf-8", "replace") if each.data else None
