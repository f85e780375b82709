"""What a processor does to ``generate``, and what it adds: ``python -m benchmarks.generation``.

A random GPT-2 and a random Llama with the vocabulary of the other benchmarks write words and JSON
in every way that ``generate`` has. What they wrote is judged by ``re`` and ``json``; where
XGrammar's processor does the same (greedily, once), the texts are compared. Then greedy batches
with our processor, XGrammar's and none take turns, and the least time of each counts. A lane that
has taken ``SECONDS`` has no more turns: XGrammar's first masks of JSON take seconds.
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any

import torch
import transformers
import xgrammar
from xgrammar.contrib.hf import LogitsProcessor

from benchmarks.vocabulary import EOS, all_bytes, read_setting
from kbnf_core import Grammar, Vocabulary
from kbnf_core.integrations.transformers import KbnfLogitsProcessor

ROUNDS = 10
ROWS = 4
TOKENS = 48
RUNS = 8
SECONDS = 20.0
PAD = 0

WORDS = r"[a-h]{3,9}( [a-h]{2,5}){0,2}"
GRAMMARS = {
    "words": (f"start ::= #'{WORDS}';", 'root ::= [a-h]{3,9} (" " [a-h]{2,5}){0,2}'),
    "json": (
        """start ::= value;
        value ::= object | list | string | number;
        object ::= '{' (member (', ' member)*)? '}';
        member ::= string ': ' value;
        list ::= '[' (value (', ' value)*)? ']';
        string ::= #'"[a-z ]{0,8}"';
        number ::= #'-?(0|[1-9][0-9]{0,3})';""",
        r"""root ::= value
        value ::= object | list | string | number
        object ::= "{" (member (", " member)*)? "}"
        member ::= string ": " value
        list ::= "[" (value (", " value)*)? "]"
        string ::= "\"" [a-z ]{0,8} "\""
        number ::= "-"? ("0" | [1-9] [0-9]{0,3})""",
    ),
}
"""For us and for XGrammar."""

WAYS: dict[str, dict[str, Any]] = {
    "greedy": {"do_sample": False},
    "sampling": {"do_sample": True, "temperature": 1.5},
    "3 beams": {"num_beams": 3, "do_sample": False},
    "2 sequences": {"num_return_sequences": 2, "do_sample": True},
}


def models(width: int) -> Iterator[tuple[str, Any]]:
    """Yield models that have learnt nothing."""
    ends: dict[str, Any] = {"eos_token_id": EOS, "pad_token_id": PAD, "bos_token_id": 1}
    gpt2 = transformers.GPT2Config(
        vocab_size=width, n_positions=256, n_embd=16, n_layer=1, n_head=1, **ends
    )
    first: Any = transformers.GPT2LMHeadModel(gpt2)
    yield "GPT-2", first.eval()
    llama = transformers.LlamaConfig(
        vocab_size=width, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=1, max_position_embeddings=256, **ends,
    )  # fmt: skip
    second: Any = transformers.LlamaForCausalLM(llama)
    yield "Llama", second.eval()


def write(model: Any, prompts: list[list[int]], processors: list[Any], **way: Any) -> list[Any]:
    """Return the tokens that follow the prompts, which are padded on the left."""
    width = max(map(len, prompts))
    rows = [[PAD] * (width - len(each)) + each for each in prompts]
    mask = [[0] * (width - len(each)) + [1] * len(each) for each in prompts]
    out = model.generate(
        torch.tensor(rows), attention_mask=torch.tensor(mask), logits_processor=processors,
        **{"max_new_tokens": TOKENS, **way},
    )  # fmt: skip
    return [row[: row.index(EOS)] if EOS in row else row for row in out[:, width:].tolist()]


def is_right(name: str, text: str) -> bool:
    """Judge a text without any engine."""
    if name == "words":
        return re.fullmatch(WORDS, text) is not None
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def judged(name: str, model: Any, vocabulary: Vocabulary) -> tuple[int, int]:
    """Return how many texts were written in all ways by one processor, and how many are right."""
    # A text of JSON may go on for ever: a budget closes it.
    budget = None if name == "words" else TOKENS
    grammar = Grammar(GRAMMARS[name][0], finish="eos")
    processor = KbnfLogitsProcessor(grammar, vocabulary, eos=EOS, budget=budget)
    texts: list[str] = []
    for round_ in range(ROUNDS):
        for way in WAYS.values():
            torch.manual_seed(round_)
            prompts = [[5 + round_, 9], [7, 8, 9, 10 + round_]][: 1 + round_ % 2]
            rows = write(model, prompts, [processor], **way)
            spelled = [[vocabulary.token(each) or b"" for each in row] for row in rows]
            texts += [b"".join(row).decode() for row in spelled]
    return len(texts), sum(is_right(name, text) for text in texts)


def least(lanes: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the least time of each lane in seconds."""
    found = dict.fromkeys(lanes, float("inf"))
    taken = dict.fromkeys(lanes, 0.0)
    for _ in range(RUNS):
        for name, lane in lanes.items():
            if taken[name] < SECONDS:
                before = perf_counter()
                lane()
                found[name] = min(found[name], perf_counter() - before)
                taken[name] += perf_counter() - before
    return found


def compare(name: str, model: Any, vocabulary: Vocabulary, compiled: Any) -> None:
    """Compare greedy texts with XGrammar's processor, and times; print."""
    grammar = Grammar(GRAMMARS[name][0], finish="eos")
    processor = KbnfLogitsProcessor(grammar, vocabulary, eos=EOS)
    prompts = torch.arange(5, 5 + 2 * ROWS).reshape(ROWS, 2).tolist()
    makers: dict[str, Callable[[], list[Any]]] = {
        "none": list,
        "kbnf-toolkit": lambda: [processor],
        # Theirs is used once.
        "xgrammar": lambda: [LogitsProcessor([compiled] * ROWS)],
    }
    texts: dict[str, list[Any]] = {}

    def lane(who: str) -> None:
        texts[who] = write(model, prompts, makers[who](), do_sample=False)

    times = least({who: partial(lane, who) for who in makers})
    same = sum(map(list.__eq__, texts["kbnf-toolkit"], texts["xgrammar"]))
    print("  " + ", ".join(f"{who} {time * 1e3:.0f} ms" for who, time in times.items()))
    print(f"  greedy texts as with xgrammar's: {same} of {ROWS}")
    ratio = times["kbnf-toolkit"] / times["xgrammar"]
    print(f"  generate with ours / with xgrammar's = {ratio:.2f} (at most 1.0 is wanted)")


def main() -> None:
    """Measure and print."""
    vocabulary = read_setting().vocabulary
    spellings = all_bytes(vocabulary)
    info = xgrammar.TokenizerInfo(spellings, vocab_size=len(spellings), stop_token_ids=[EOS])
    compiler = xgrammar.GrammarCompiler(info)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    written = right = 0
    for kind, model in models(len(spellings)):
        for name, (_, theirs) in GRAMMARS.items():
            count, good = judged(name, model, vocabulary)
            written, right = written + count, right + good
            print(f"{kind}, {name}: {good} of {count} texts are right")
            compare(name, model, vocabulary, compiler.compile_grammar(theirs))
    print(f"{right} of {written} texts are right (all are wanted)")


if __name__ == "__main__":
    main()
