"""The constraint as a table on the device: what closes, how large, how fast, whether it is right.

``python -m benchmarks.device FOLDER`` draws schemas of a maskbench folder and closes their declared
objects (``additionalProperties: false``, as hosted "strict" modes ask). Masks over random texts are
compared with the engine's, in all ways to finish (some 10,000 a second, so ``--masks 1000000`` is a
matter of minutes), and sequences that torch generates alone are judged by the engine, llguidance
and jsonschema. Fails (status 1) where one is wrong.
"""

import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from benchmarks.maskbench import Build, Case, read_cases, theirs
from benchmarks.vocabulary import Setting, read_setting
from kbnf_core import Config, Engine, Finish, Grammar, Vocabulary, apply_bitmask
from kbnf_core.device import TableTooLargeError, TokenTable
from kbnf_core.text.errors import KbnfError

BATCH = 64
TEXT_STEPS = 150
_IN_PLACE = ("enum", "const", "default", "examples", "required")
_BY_NAME = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")


def closed(schema: Any) -> Any:
    """Return a schema whose declared objects take no other members; typed maps stay."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {
        key: value
        if key in _IN_PLACE
        else {name: closed(each) for name, each in value.items()}
        if key in _BY_NAME and isinstance(value, dict)
        else closed(value)
        for key, value in schema.items()
    }
    kinds = schema.get("type")
    declared = isinstance(schema.get("properties"), dict) or "object" in (
        kinds if isinstance(kinds, list) else [kinds]
    )
    if declared and schema.get("additionalProperties") in (None, True, {}):
        found["additionalProperties"] = False
    return found


@dataclass(frozen=True, slots=True)
class Closed:
    """A closed schema that is taken, and its grammar."""

    name: str
    schema: Any
    grammar: Grammar


def read_grammars(cases: Iterable[Case], whitespace: str) -> Iterator[Closed]:
    """Yield the closed schemas that are taken, each with its grammar."""
    for case in cases:
        schema = closed(case.schema)
        try:
            grammar = Grammar.from_json_schema(schema, whitespace=whitespace, lossy=True)
            _ = grammar.tables
        except KbnfError:
            continue
        yield Closed(case.name, schema, grammar)


def compare(table: TokenTable, engine: Engine, wanted: int, rng: random.Random) -> tuple[int, int]:
    """Return how many masks over random texts were compared, and how many differ."""
    size = engine.vocabulary.size
    order = np.argsort(table.token_class[:size], kind="stable")
    members = np.split(order, np.cumsum(np.bincount(table.token_class[:size]))[:-1])
    rows: dict[int, bytes] = {}
    words = np.zeros((size + 31) // 32, np.int32)
    done = wrong = 0
    while done < wanted:
        engine.reset()
        state = table.initial
        for _ in range(TEXT_STEPS):
            if engine.is_finished() or done >= wanted:
                break
            if state not in rows:
                allowed = (table.transitions[state] != 0)[table.token_class[:size]]
                bits = np.packbits(allowed, bitorder="little")
                rows[state] = np.pad(bits, (0, -len(bits) % 4)).tobytes()
            engine.fill_bitmask(words)
            done += 1
            wrong += rows[state] != words.tobytes()
            token = int(rng.choice(members[rng.choice(np.flatnonzero(table.transitions[state]))]))
            engine.try_accept_new_token(token)
            state = int(table.transitions[state, table.token_class[token]])
        wrong += engine.is_finished() != bool(table.final[state])
    return done, wrong


def leads_closer(table: TokenTable) -> npt.NDArray[np.bool_]:
    """Return bool[states, classes]: whether a token leads to a state with a shorter way out."""
    steps = np.where(table.final, 0, np.iinfo(np.int32).max - 1)
    while True:
        after = np.where(table.transitions > 0, steps[table.transitions], np.iinfo(np.int32).max)
        fewer = np.minimum(steps, after.min(1) + 1)
        if (fewer == steps).all():
            closer: npt.NDArray[np.bool_] = after < steps[:, None]
            return closer
        steps = fewer


def generated(table: TokenTable, batch: int, rng: int) -> list[list[int]]:
    """Return the sequences, of a batch that torch generates without an engine, that ended."""
    import torch

    from kbnf_core.device import DeviceGrammars

    group = DeviceGrammars([table])
    generator = torch.Generator().manual_seed(rng)
    closer = torch.from_numpy(leads_closer(table)).float()
    token_class = torch.from_numpy(table.token_class).int()
    state = group.start([0] * batch)
    taken, over = [], []
    for _ in range(TEXT_STEPS):
        logits = torch.rand(batch, len(table.token_class), generator=generator)
        # Every second token, on average, leads closer to the end, so that texts end.
        wanted = (torch.rand(batch, 1, generator=generator) < 0.5).float()
        logits += (wanted * closer[state.long()]).index_select(1, token_class)
        tokens = group.mask_logits_(logits, state).argmax(-1)
        state = group.advance(state, tokens)
        taken.append(tokens)
        over.append(group.is_final(state))
    rows, ends = torch.stack(taken, 1).tolist(), torch.stack(over, 1).long().argmax(1).tolist()
    done = over[-1].tolist()
    return [row[: end + 1] for row, end, d in zip(rows, ends, done, strict=True) if d]


def judge(case: Closed, ids: list[int], setting: Setting, peer: Build | None) -> Iterator[str]:
    """Yield who refuses a sequence."""
    vocabulary = setting.vocabulary
    engine = Engine(case.grammar, vocabulary, Config(finish="eos"))
    if engine.accept_tokens(ids) != len(ids) or not engine.is_finished():
        yield "engine"
    text = b"".join(vocabulary.token(each) or b"" for each in ids)
    jsonschema = import_module("jsonschema")
    validator = jsonschema.validators.validator_for(case.schema)(case.schema)
    if not validator.is_valid(json.loads(text)):
        yield "jsonschema"
    if peer is not None:
        try:
            session = peer(case.schema)()
        except Exception:
            # It does not take the schema.
            return
        plain = [each for each in ids if each not in vocabulary.eos_token_ids]
        if not all(map(session.accept, plain)) or not session.complete():
            yield "llguidance"


def median_ms(calls: list[Callable[[], object]], repeats: int = 21) -> list[float]:
    """Return the median time of each; they take turns."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for call, found in zip(calls, times, strict=True):
            began = time.perf_counter()
            call()
            found.append(1e3 * (time.perf_counter() - began))
    return list(map(statistics.median, times))


def print_masking(table: TokenTable, device: str) -> None:
    """Print the times of masking a batch through a table, and through bitmasks already there."""
    import torch

    from kbnf_core.device import DeviceGrammars

    group = DeviceGrammars([table], device)
    width = len(table.token_class)
    state = torch.arange(BATCH, dtype=torch.int32) % (len(table.transitions) - 2) + 1
    allowed = (table.transitions != 0)[state.numpy()][:, table.token_class]
    packed = np.packbits(np.ascontiguousarray(allowed), axis=1, bitorder="little")
    words = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 4))).view(np.int32)
    bits, state = torch.from_numpy(words).to(device), state.to(device)
    logits = torch.randn(BATCH, width, device=device)
    synchronize: Any = torch.cuda.synchronize
    wait: Callable[[], object] = synchronize if device == "cuda" else lambda: None
    ways: dict[str, Callable[[], object]] = {
        "table": lambda: (group.mask_logits_(logits, state), wait()),
        "packed bitmask, `apply_bitmask`": lambda: (apply_bitmask(logits, bits), wait()),
    }
    try:
        apply = import_module("xgrammar").apply_token_bitmask_inplace
        ways["packed bitmask, XGrammar"] = lambda: (apply(logits, bits), wait())
    except ImportError:
        print("- xgrammar is not installed")
    print(f"\n## Masking {BATCH} x {width:,} float32 on {device}, ms\n")
    for name, found in zip(ways, median_ms(list(ways.values())), strict=True):
        print(f"- {name}: {found:.2f} ({BATCH / found * 1e3:,.0f} masks a second)")
    print(f"- over the bus a step: 0 bytes with a table, {BATCH * words.shape[1] * 4:,} with masks")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--sample", default=300, help="Schemas to draw among those that are taken.")
@click.option("--seed", default=17, help="Of the draw and of the texts.")
@click.option("--masks", default=20_000, help="Masks to compare with the engine's.")
@click.option("--sequences", default=2, help="Sequences to generate for each schema.")
@click.option("--whitespace", default="flexible", help="flexible, bounded or compact.")
@click.option(
    "--vocab", type=click.Path(path_type=Path), help="A tokenizer.json instead of tekken."
)
@click.option("--eos", type=int, help="The id that ends a sequence, where the file names none.")
def main(
    folder: Path,
    sample: int,
    seed: int,
    masks: int,
    sequences: int,
    whitespace: str,
    vocab: Path | None,
    eos: int | None,
) -> None:
    """Measure tables of the schemas of FOLDER."""
    setting = read_setting(vocab, eos)
    _ = setting.vocabulary.trie
    rng = random.Random(seed)  # noqa: S311 - a draw, no secret
    cases = list(read_cases(folder))
    rng.shuffle(cases)
    drawn = list(islice(read_grammars(cases, whitespace), sample))
    tables = _build_all(drawn, setting.vocabulary)
    wrong = _compare_all(tables, setting.vocabulary, masks, rng)
    if sequences:
        wrong += _judge_all(tables, setting, sequences)
    _print_all_masking(tables)
    sys.exit(wrong > 0)


Built = list[tuple[Closed, TokenTable]]


def _build_all(drawn: list[Closed], vocabulary: Vocabulary) -> Built:
    found: Built = []
    reasons, times = [], []
    for each in drawn:
        began = time.process_time()
        try:
            table = TokenTable.build(each.grammar, vocabulary, "eos")
        except TableTooLargeError as error:
            reasons.append(f"{each.name}: {error}")
            continue
        times.append(1e3 * (time.process_time() - began))
        found.append((each, table))
    share = len(found) / len(drawn)
    print(f"closed: {len(found)} of {len(drawn)} ({share:.1%}), over {vocabulary.name}\n")
    print("| | median | p95 | most |\n|---|---|---|---|")
    for name, values in (
        ("build, ms of a processor", times),
        ("states", [float(len(table.transitions) - 1) for _, table in found]),
        ("token classes", [float(table.end.size) for _, table in found]),
        ("table, KB", [table.transitions.nbytes / 1024 for _, table in found]),
    ):
        ordered = sorted(values)
        p95 = ordered[int(0.95 * (len(ordered) - 1))]
        print(f"| {name} | {statistics.median(ordered):,.1f} | {p95:,.1f} | {ordered[-1]:,.1f} |")
    nesting = sum("can nest" in each for each in reasons)
    print(f"\nnot closed: {nesting} that nest, {len(reasons) - nesting} with more states")
    for reason in reasons:
        print(f"- {reason}")
    return found


def _compare_all(tables: Built, vocabulary: Vocabulary, masks: int, rng: random.Random) -> int:
    done = wrong = 0
    began = time.perf_counter()
    left = [(each.grammar, table, finish) for each, table in tables for finish in Finish]
    while left:
        grammar, table, finish = left.pop()
        own = table if finish is table.finish else TokenTable.build(grammar, vocabulary, finish)
        engine = Engine(grammar, vocabulary, Config(finish=finish))
        more, differ = compare(own, engine, (masks - done) // (len(left) + 1), rng)
        done, wrong = done + more, wrong + differ
    seconds = time.perf_counter() - began
    print(f"\nmasks compared with the engine's: {done:,} in {seconds:.0f} s, different: {wrong}")
    return wrong


def _judge_all(tables: Built, setting: Setting, sequences: int) -> int:
    peer = theirs(setting) if find_spec("llguidance") else None
    if peer is None:
        print("llguidance is not installed: it judges nothing")
    refused: dict[str, list[str]] = {}
    count = 0
    for number, (each, table) in enumerate(tables):
        for ids in generated(table, sequences, number):
            count += 1
            for name in judge(each, ids, setting, peer):
                text = b"".join(setting.vocabulary.token(token) or b"" for token in ids)
                refused.setdefault(name, []).append(f"{each.name}: {text!r}")
    print(f"\nsequences generated by torch alone: {count}")
    for name in ("engine", "jsonschema", "llguidance"):
        print(f"- refused by {name}: {len(refused.get(name, []))}")
        for sequence in refused.get(name, []):
            print(f"  - {sequence}")
    return len(refused.get("engine", [])) + len(refused.get("jsonschema", []))


def _print_all_masking(tables: Built) -> None:
    import torch

    ordered = sorted((table for _, table in tables), key=lambda table: table.nbytes)
    table = ordered[len(ordered) // 2]
    print_masking(table, "cpu")
    if torch.cuda.is_available():
        print_masking(table, "cuda")
    else:
        print("\nNo CUDA device was there: nothing was measured on one.")


if __name__ == "__main__":
    main()
