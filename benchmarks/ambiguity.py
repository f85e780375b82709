"""What ambiguity costs: tokens reached in so many seconds, here and by LLGuidance.

Run ``python -m benchmarks.ambiguity [seconds]``, of the processor. A step is the mask and one
accepted byte. Where a text has many derivations, or may turn at many places, states hold many pairs
and do not recur, so each step costs more than the one before, in proportion to the pairs; nothing
limits that but time (LLGuidance stops at 2,000 items of one position).
"""

import sys
import time
from collections.abc import Callable

import numpy as np

from kbnf_core import Engine, Grammar, Vocabulary

SECONDS = 8.0

GRAMMARS = {
    'e ::= e "+" e | "a"': (
        'start ::= e; e ::= e "+" e | "a";',
        'start: e\ne: e "+" e | "a"',
        "a+",
    ),
    'S ::= S S S | "a"': ('start ::= s; s ::= s s s | "a";', 'start: s\ns: s s s | "a"', "a"),
    'S ::= S S | "a"': ('start ::= s; s ::= s s | "a";', 'start: s\ns: s s | "a"', "a"),
    'e ::= "a" e "a" | "a" | "aa"': (
        'start ::= e; e ::= "a" e "a" | "a" | "aa";',
        'start: e\ne: "a" e "a" | "a" | "aa"',
        "a",
    ),
}


def reached(step: Callable[[int], None], text: str, seconds: float) -> int:
    """Return how many bytes of ``text``, repeated, were accepted in ``seconds``."""
    end = time.process_time() + seconds
    count = 0
    while time.process_time() < end:
        step(ord(text[count % len(text)]))
        count += 1
    return count


def ours(grammar: str) -> Callable[[int], None]:
    """Return a step of this engine."""
    vocabulary = Vocabulary.bytes()
    engine = Engine(Grammar(grammar, finish="eos"), vocabulary)
    out = np.zeros((vocabulary.size + 31) // 32, np.int32)

    def step(byte: int) -> None:
        engine.fill_bitmask(out)
        engine.try_accept_new_token(byte)

    return step


def llguidance(grammar: str) -> Callable[[int], None]:
    """Return a step of LLGuidance."""
    import llguidance

    class Bytes:
        """Every byte is a token, and 256 ends the sequence."""

        eos_token_id = 256
        bos_token_id = None
        tokens = (*(bytes((byte,)) for byte in range(256)), b"<eos>")
        special_token_ids = (256,)

        def __call__(self, text: bytes | str) -> list[int]:
            return list(text.encode() if isinstance(text, str) else text)

    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Bytes()))
    matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_lark(grammar))

    def step(byte: int) -> None:
        matcher.compute_bitmask()
        if not matcher.consume_token(byte):
            raise RuntimeError(matcher.get_error())

    return step


def main() -> None:
    """Print a line for each grammar."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    print(f"tokens reached in {seconds:g} s")
    print(f"{'grammar':32}{'here':>8}{'llguidance':>12}")
    for name, (kbnf, lark, text) in GRAMMARS.items():
        counts = []
        for engine, grammar in ((ours, kbnf), (llguidance, lark)):
            try:
                counts.append(str(reached(engine(grammar), text, seconds)))
            except RuntimeError:
                counts.append("stopped")
        print(f"{name:32}{counts[0]:>8}{counts[1]:>12}")


if __name__ == "__main__":
    main()
