"""exllamav3's own ``FormatronFilter``, driven as its generator drives it; part of the suite."""

import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from kbnf_testing.formatron_plays import Snapshot, trained

HOME = Path(__file__).resolve().parents[3] / ".hosts" / "exllamav3"
WIDTH = 1600
"""Columns of a head, which is more than the tokenizer has ids."""

TRIGGER = 5


class Tokenizer:
    """As much of exllamav3's tokenizer as the filter uses."""

    def __init__(self) -> None:
        self.tokenizer = trained()

    def get_vocab_dict(self) -> dict[str, int]:
        """Return the ids of pieces."""
        return self.tokenizer.get_vocab()


def filter_class() -> Any:
    """Return the class, of its own file, in a package that is a stand-in."""
    package: Any = ModuleType("exllamav3")
    package.__path__ = [str(HOME)]
    tokenizer: Any = ModuleType("exllamav3.tokenizer")
    tokenizer.Tokenizer = Tokenizer
    sys.modules.setdefault("exllamav3", package)
    sys.modules.setdefault("exllamav3.tokenizer", tokenizer)
    from exllamav3.generator.filter.formatron import FormatronFilter

    return FormatronFilter


def _regex(builder: Any) -> None:
    builder.append_str(f"ID {builder.regex('[0-9]{3,9}', capture_name='id')}.")


def _choice(builder: Any) -> None:
    builder.append_line(f"{builder.choose('yes', 'no', 'yes and no', capture_name='said')}!")


def _json(builder: Any) -> None:
    from formatron.schemas.dict_inference import infer_mapping

    mapping = infer_mapping({"name": "x", "old": True})
    builder.append_str(f"{builder.json(mapping, capture_name='json')}")


def _until(builder: Any) -> None:
    builder.append_str(f"{builder.str(stop=['.', 'e'], capture_name='text')}")


@pytest.mark.parametrize("trigger", [None, TRIGGER])
@pytest.mark.parametrize("write", [_regex, _choice, _json, _until])
def test_filter(snapshot: Snapshot, write: Callable[[Any], None], trigger: int | None) -> None:
    """Play texts with steps back; what is compared: tokens, masks' sums, captures."""
    from formatron.formatter import FormatterBuilder

    random = Random(write.__name__)
    builder = FormatterBuilder()
    write(builder)
    made = filter_class()(Tokenizer(), trigger, "", True, builder)
    made.attach(SimpleNamespace(generator=SimpleNamespace(padded_vocab_size=WIDTH)))
    tokens: list[int] = []
    if trigger is not None:
        made.feed(trigger + 1)
        made.feed(trigger)
    for _ in range(120):
        (mask,) = made.get_next_logit_mask()
        allowed = torch.nonzero(mask[: len(trained().get_vocab())] == 0).flatten().tolist()
        # Short tokens, so that texts end.
        tokens.append(random.choice(allowed[:40]))
        snapshot.assert_match(len(allowed))
        if made.feed(tokens[-1]):
            break
        if random.random() < 0.2:
            made.rewind(1)
            tokens.pop()
    snapshot.assert_match(tokens)
    snapshot.assert_match(made._formatter.captures)
