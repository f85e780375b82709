"""What a processor adds to ``generate``: ``python -m benchmarks.generation``.

A random GPT-2 with the vocabulary of the other benchmarks writes JSON, four texts at a time,
greedily, in turn with our processor, XGrammar's and none; the least time of each counts.
"""

from time import perf_counter
from typing import Any

import torch
import transformers
import xgrammar
from xgrammar.contrib.hf import LogitsProcessor

from benchmarks.vocabulary import EOS, all_bytes, read_setting
from benchmarks.workloads import WORKLOADS
from kbnf_core import Grammar
from kbnf_core.integrations.transformers import KbnfLogitsProcessor

ROWS = 4
TOKENS = 48
RUNS = 8


def main() -> None:
    """Measure and print."""
    vocabulary = read_setting().vocabulary
    workload = WORKLOADS[0]
    ours, theirs = (str(workload.grammar(form)) for form in ("kbnf", "gbnf"))
    spellings = all_bytes(vocabulary)
    info = xgrammar.TokenizerInfo(spellings, vocab_size=len(spellings), stop_token_ids=[EOS])
    compiled = xgrammar.GrammarCompiler(info).compile_grammar(theirs)
    processor = KbnfLogitsProcessor(Grammar(ours, finish="eos"), vocabulary, eos=EOS)
    makers: dict[str, Any] = {
        "none": list,
        "kbnf-toolkit": lambda: [processor],
        "xgrammar": lambda: [LogitsProcessor([compiled] * ROWS)],
    }
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config: Any = transformers.GPT2Config(
        vocab_size=len(spellings), n_positions=256, n_embd=16, n_layer=1, n_head=1,
        eos_token_id=EOS, pad_token_id=0,
    )  # fmt: skip
    model: Any = transformers.GPT2LMHeadModel(config).eval()
    prompts = torch.arange(5, 5 + 2 * ROWS).reshape(ROWS, 2)
    times = dict.fromkeys(makers, float("inf"))
    for _ in range(RUNS):
        for name, make in makers.items():
            before = perf_counter()
            model.generate(
                prompts, attention_mask=torch.ones_like(prompts), logits_processor=make(),
                max_new_tokens=TOKENS, do_sample=False,
            )  # fmt: skip
            times[name] = min(times[name], perf_counter() - before)
    print(", ".join(f"{name} {time * 1e3:.0f} ms" for name, time in times.items()))
    ratio = times["kbnf-toolkit"] / times["xgrammar"]
    print(f"generate with ours / with xgrammar's = {ratio:.2f} (at most 1.0 is wanted)")


if __name__ == "__main__":
    main()
