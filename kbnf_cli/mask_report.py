"""What ``kbnf mask`` prints, in each of its formats."""

import io
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kbnf_cli.escaped import escaped
from kbnf_cli.prefix import Prefix
from kbnf_core.diagnostics.text import count_of
from kbnf_core.diagnostics.visible import visible

if TYPE_CHECKING:
    from kbnf_core import Vocabulary

SCHEMA = "kbnf.mask/1"

_EXAMPLES = 5
"""Tokens shown for each first byte when there are too many to list."""


@dataclass(frozen=True, slots=True)
class Mask:
    """The tokens allowed after a prefix, ascending ids."""

    vocabulary: "Vocabulary"
    prefix: Prefix
    is_finished: bool
    ids: Sequence[int]

    @property
    def status(self) -> str:
        """``finished`` or ``ongoing``."""
        return "finished" if self.is_finished else "ongoing"

    @property
    def is_eos_allowed(self) -> bool:
        """Whether an end of sequence is among the ids."""
        return not self.vocabulary.eos_token_ids.isdisjoint(self.ids)


def mask_value(mask: Mask) -> dict[str, Any]:
    """Return the object that ``schemas/mask.schema.json`` describes."""
    vocabulary = mask.vocabulary
    return {
        "schema": SCHEMA,
        "status": mask.status,
        "vocabulary": {
            "name": vocabulary.name,
            "size": vocabulary.size,
            "fingerprint": vocabulary.fingerprint,
        },
        "prefix": {"hex": mask.prefix.data.hex(), "tokens": list(mask.prefix.tokens)},
        "allowed": {"count": len(mask.ids), "ids": list(mask.ids)},
        "eos_allowed": mask.is_eos_allowed,
    }


def to_json(value: dict[str, Any]) -> str:
    """Return an object as one line of ASCII."""
    return json.dumps(value) + "\n"


def to_ids(mask: Mask) -> str:
    """Return one id a line."""
    return "".join(f"{token_id}\n" for token_id in mask.ids)


def to_npy(mask: Mask) -> bytes:
    """Return a NumPy file: bool[vocabulary size], True where a token is allowed."""
    import numpy as np

    flags = np.zeros(mask.vocabulary.size, dtype=np.bool_)
    flags[list(mask.ids)] = True
    buffer = io.BytesIO()
    np.save(buffer, flags)
    return buffer.getvalue()


def to_table(mask: Mask, limit: int) -> str:
    """Return the mask for people: a list of at most ``limit`` tokens, else an overview."""
    return "\n".join([*_heading(mask), *_body(mask, limit)]) + "\n"


def _heading(mask: Mask) -> Iterator[str]:
    vocabulary = mask.vocabulary
    prefix = mask.prefix
    tokens = f", tokens {', '.join(map(str, prefix.tokens))}" if prefix.tokens else ""
    yield f"vocabulary  {visible(vocabulary.name or '-')} ({vocabulary.size:,} ids)"
    yield f"prefix      {escaped(prefix.data)} ({count_of(len(prefix.data), 'byte')}{tokens})"
    yield f"status      {mask.status}"
    yield f"allowed     {len(mask.ids):,} of {len(vocabulary):,} tokens"
    yield f"end         {_end(mask)}"


def _end(mask: Mask) -> str:
    if mask.is_finished:
        return "the text is over"
    return "end of sequence is allowed" if mask.is_eos_allowed else "cannot end here"


def _body(mask: Mask, limit: int) -> Iterator[str]:
    vocabulary = mask.vocabulary
    special = [token_id for token_id in mask.ids if vocabulary.is_special(token_id)]
    ordinary = {
        token_id: vocabulary.tokens[token_id]
        for token_id in mask.ids
        if not vocabulary.is_special(token_id)
    }
    if mask.ids:
        yield ""
    for token_id in special:
        yield f"{token_id:>8}  {_special(vocabulary, token_id)}"
    if len(ordinary) <= limit:
        for token_id in sorted(ordinary, key=lambda each: (ordinary[each], each)):
            yield f"{token_id:>8}  {escaped(ordinary[token_id])}"
    else:
        yield from _overview(ordinary)
        yield ""
        yield f"too many to list one by one: --limit {len(ordinary)} does"


def _special(vocabulary: "Vocabulary", token_id: int) -> str:
    kind = "end of sequence" if token_id in vocabulary.eos_token_ids else "special"
    name = vocabulary.token_string(token_id)
    return kind if name is None else f"{visible(name)} ({kind})"


def _overview(ordinary: dict[int, bytes]) -> Iterator[str]:
    """Yield a line for each first byte: how many tokens, and the shortest of them."""
    groups: dict[int, list[int]] = defaultdict(list)
    for token_id, data in ordinary.items():
        groups[data[0]].append(token_id)
    for first, ids in sorted(groups.items()):
        ids.sort(key=lambda each: (len(ordinary[each]), ordinary[each], each))
        shown = ", ".join(f"{each} {escaped(ordinary[each])}" for each in ids[:_EXAMPLES])
        more = ", ..." if len(ids) > _EXAMPLES else ""
        yield f"{escaped(bytes((first,))):>8}  {len(ids):>6,}: {shown}{more}"
