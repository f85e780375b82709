"""A fresh process to its first mask, all in: ``python -m benchmarks.fresh_process``.

Each run is a process that imports the engine, reads the vocabulary (here from the cache on disk, as
from the second process on), takes a grammar and makes a mask. Counted is the time on the processor,
from the interpreter's start; engines take turns. Nothing of the benchmarks is imported, nor what
they need. NumPy, which all of them import, has one thread: else its linear algebra starts one for
each further core, and these wait busily, a tenth of a second each, for work that no engine has.
"""

import json
import os
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

BAR = 0.25
"""At most so much of llguidance's."""

REPEAT = 3
"""Processes of each engine and grammar."""

GRAMMARS = Path(__file__).parent / "grammars"
TOOL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Where"},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "at": {"type": "string", "format": "date-time"},
    },
    "required": ["city", "days"],
}
KINDS = ("arithmetic", "one tool", "8 tools")


def schema(kind: str) -> dict[str, Any]:
    """Return the schema of a tool, or of calls of eight."""
    if kind == "one tool":
        return TOOL
    names = (
        (f"tool_{n}", {f"{k}_{n}": v for k, v in TOOL["properties"].items()}) for n in range(8)
    )
    calls = [
        {
            "type": "object",
            "properties": {
                "name": {"const": name},
                "arguments": {"type": "object", "properties": properties},
            },
            "required": ["name", "arguments"],
        }
        for name, properties in names
    ]
    return {"anyOf": calls}


def grammar(form: str) -> str:
    """Return the grammar of arithmetic in a form."""
    return (GRAMMARS / f"arithmetic.{form}").read_text(encoding="utf-8").rstrip("\n")


def run_ours(kind: str, tekken: Path) -> None:
    """Go to the first mask with this library."""
    kbnf = import_module("kbnf_core")
    vocabulary = kbnf.load_vocabulary(tekken)
    if kind == "arithmetic":
        made = kbnf.Grammar(grammar("kbnf"), finish="eos")
    else:
        made = kbnf.Grammar.from_json_schema(schema(kind))
    bits = import_module("numpy").zeros((vocabulary.size + 31) // 32, "int32")
    kbnf.Engine(made, vocabulary).fill_bitmask(bits)


def _tekken(path: Path) -> tuple[str, dict[bytes, int], dict[str, int]]:
    """Return the pattern, ranks and special tokens of a tekken file."""
    from base64 import b64decode

    data = json.loads(path.read_text(encoding="utf-8"))
    config = data["config"]
    special = config["default_num_special_tokens"]
    size = config["default_vocab_size"] - special
    ranks = {b64decode(each["token_bytes"]): each["rank"] for each in data["vocab"][:size]}
    return config["pattern"], ranks, {f"<special{n}>": size + n for n in range(special)}


def run_llguidance(kind: str, tekken: Path) -> None:
    """Go to the first mask with llguidance, by its own way from tiktoken."""
    llguidance = import_module("llguidance")
    side = import_module("llguidance.numpy")
    pattern, ranks, special = _tekken(tekken)
    encoding = import_module("tiktoken").Encoding(
        "tekken", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special
    )
    tokenizer = import_module("llguidance.tiktoken").lltokenizer_from_encoding(
        encoding, eos_token=encoding.n_vocab - 1
    )
    matcher = llguidance.LLMatcher
    if kind == "arithmetic":
        made = matcher.grammar_from_lark(grammar("lark"))
    else:
        made = matcher.grammar_from_json_schema(schema(kind))
    engine = matcher(tokenizer, made, log_level=0)
    if engine.is_error():
        raise ValueError(engine.get_error())
    side.fill_next_token_bitmask(engine, side.allocate_token_bitmask(1, encoding.n_vocab), 0)


def run_xgrammar(kind: str, tekken: Path) -> None:
    """Go to the first mask with xgrammar."""
    xgrammar = import_module("xgrammar")
    _, ranks, special = _tekken(tekken)
    tokens = [*ranks, *(name.encode() for name in special)]
    information = xgrammar.TokenizerInfo(tokens, stop_token_ids=[len(tokens) - 1])
    compiler = xgrammar.GrammarCompiler(information)
    if kind == "arithmetic":
        compiled = compiler.compile_grammar(grammar("gbnf"))
    else:
        compiled = compiler.compile_json_schema(json.dumps(schema(kind)))
    bits = xgrammar.allocate_token_bitmask(1, len(tokens))
    xgrammar.GrammarMatcher(compiled).fill_next_token_bitmask(bits)


ENGINES: dict[str, tuple[str, Callable[[str, Path], None]]] = {
    "kbnf-toolkit": ("kbnf_core", run_ours),
    "llguidance": ("llguidance", run_llguidance),
    "xgrammar": ("xgrammar", run_xgrammar),
}


def main() -> None:
    """Time fresh processes to the first mask, three times after one that writes the cache."""
    from statistics import median

    from benchmarks.measure import in_own_process
    from benchmarks.vocabulary import tekken_path

    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    present = [name for name, (module, _) in ENGINES.items() if find_spec(module)]
    for name in ENGINES.keys() - present:
        print(f"not installed: {name}", file=sys.stderr)
    runs: dict[tuple[str, str], list[float]] = {}
    # The first run writes the cache, or finds it.
    for turn in range(REPEAT + 1):
        for kind in KINDS:
            for name in present:
                arguments = (name, kind, tekken_path())
                seconds = in_own_process("benchmarks.fresh_process", *arguments)
                if turn:
                    runs.setdefault((kind, name), []).append(seconds)
    print("| to the first mask, processor ms | " + " | ".join(present) + " | of llguidance |")
    print("|---" * (len(present) + 2) + "|")
    for kind in KINDS:
        times = {name: median(runs[kind, name]) for name in present}
        cells = " | ".join(f"{1e3 * time:.0f}" for time in times.values())
        ratio = times["kbnf-toolkit"] / times.get("llguidance", float("nan"))
        print(f"| {kind} | {cells} | {ratio:.2f} |")
    print(f"\nWanted: at most {BAR:g} of llguidance's.")


if __name__ == "__main__":
    if sys.argv[1:]:
        engine, task, file = sys.argv[1:]
        ENGINES[engine][1](task, Path(file))
        print(process_time())
    else:
        main()
