"""Generates a batch under two grammars with no call of an engine in the loop.

``python docs/examples/generate_on_device.py`` needs torch. The model is random numbers here; put
logits of a real one in the place of ``model``, and its vocabulary (``Vocabulary.of(tokenizer)``).
"""

import sys

import torch

from kbnf_core import Grammar, Vocabulary
from kbnf_core.device import DeviceGrammars, TokenTable

VOCABULARY = Vocabulary.bytes()
GRAMMARS = [
    Grammar("start ::= #'[1-9][0-9]{0,3}' ('+' #'[1-9]')*;", finish="eos"),
    Grammar.from_json_schema(
        {
            "type": "object",
            "properties": {"ok": {"type": "boolean"}, "n": {"enum": [1, 20, 300]}},
            "required": ["ok", "n"],
            "additionalProperties": False,
        },
        whitespace="compact",
    ),
]
BATCH, STEPS = 8, 60


def model(batch: int, width: int, generator: torch.Generator) -> torch.Tensor:
    """Return logits."""
    return torch.randn(batch, width, generator=generator)


def main() -> None:
    """Print a text for each sequence."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tables = [TokenTable.build(each, VOCABULARY, finish="eos") for each in GRAMMARS]
    group = DeviceGrammars(tables, device)
    generator = torch.Generator().manual_seed(1)
    state = group.start([number % 2 for number in range(BATCH)])
    taken = []
    for _ in range(STEPS):
        logits = model(BATCH, group.width, generator).to(device)
        tokens = group.mask_logits_(logits, state).argmax(-1)
        state = group.advance(state, tokens)
        taken.append(tokens)
    # Only here does anything leave the device.
    for row, over in zip(
        torch.stack(taken, 1).tolist(), group.is_final(state).tolist(), strict=True
    ):
        text = b"".join(VOCABULARY.token(each) or b"" for each in row).decode()
        sys.stdout.write(f"{'done' if over else 'cut'} {text}\n")


if __name__ == "__main__":
    main()
