"""Artifacts that are wrong: *mutated*, as disks and copies do, and *forged*, with right digests.

Each case follows from a seed and a number. A mutated file must be refused or give the masks of the
original. A forged one may be the artifact of another grammar, so its masks are its own affair; it
must be refused, or answer each question or refuse that with an error of the library's.
"""

import json
import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kbnf_core import (
    ArtifactError,
    Config,
    Engine,
    KbnfError,
    Vocabulary,
    compile_artifact,
    load_artifact,
)
from kbnf_core.artifact.manifest import manifest_digest
from kbnf_core.container import digest, read_container, write_container

Array = npt.NDArray[Any]
Arrays = dict[str, Array]

REFUSED = "refused"
SAME = "same"
OTHER = "other"
"""How a case may end: refused with an ArtifactError, the original's masks, other answers."""

WORDS = (b'{"', b'": ', b'", "', b"]}", b"null", b"},", b"[[", b"12", b"ab", b"aab", b"))", b"((a")
VOCABULARY = Vocabulary(
    {**{i: bytes([i]) for i in range(256)}, **{256 + i: word for i, word in enumerate(WORDS)}},
    eos_token_id=300,
    special_tokens={"<|x|>": 299},
    name="pieces",
)


@dataclass(frozen=True, slots=True)
class Original:
    """A sound artifact, and a text for its grammar."""

    data: bytes
    text: bytes
    answers: str


GRAMMARS: Mapping[str, tuple[str, bytes]] = {
    "json": (
        "start ::= value; value ::= object | array | string | #'[0-9]+' | 'null';"
        "object ::= '{' [pair {', ' pair}] '}'; pair ::= string ': ' value;"
        "array ::= '[' [value {',' value}] ']'; string ::= #'\"[^\"]*\"';",
        b'{"a": [1,{"b": null}], "c": 12}',
    ),
    "ambiguous": ("start ::= e; e ::= e '+' e | '(' e ')' | #'[ab]+';", b"a+(b+aab)+((a))+b"),
    "tokens": ("""start ::= 'a' start 'b' | #token"<|x|>" 'c' #token[^97];""", b"aaab"),
    "tails": (
        "start ::= 'x' a | b; a ::= 'y' b | 'a'; b ::= 'z' a | start 'a' | 'b';",
        b"xyzyzbaa",
    ),
}


def originals(folder: Path) -> list[Original]:
    """Return the artifacts that cases are made of; ``folder`` is for a file or two."""
    found = []
    for text, sample in GRAMMARS.values():
        path = folder / "original.kbnfc"
        compile_artifact(text, VOCABULARY, path)
        found.append(Original(path.read_bytes(), sample, answers(path, sample)))
    return found


def answers(path: Path, text: bytes) -> str:
    """Return a hash of the stored reading, and of the answers of an engine along ``text``."""
    grammar = load_artifact(path)
    stored = (
        grammar.to_kbnf(),
        grammar.losses,
        sorted(grammar.names.items()),
        [*grammar.rules.rules],
    )
    engine = Engine(grammar, VOCABULARY, Config(finish="eos"))
    return blake2b(repr(stored).encode() + _answers(engine, text).encode()).hexdigest()


def _answers(engine: Engine, text: bytes) -> str:
    found = blake2b(digest_size=16)
    for byte in text:
        engine.compute_allowed_token_ids()
        allowed = engine.get_allowed_token_ids_from_last_computation()
        found.update(repr((allowed, engine.can_finish())).encode())
        for token_id in allowed[:: max(1, len(allowed) // 4)]:
            branch = copy(engine)
            found.update(repr(branch.try_accept_new_token(token_id)).encode())
            branch.compute_allowed_token_ids()
            found.update(repr(branch.get_allowed_token_ids_from_last_computation()).encode())
        try:
            engine.try_accept_new_token(byte)
        except KbnfError as error:
            found.update(type(error).__name__.encode())
            break
    if not engine.is_finished():
        found.update(engine.forced_bytes())
        found.update(repr(engine.shortest_completion().data).encode())
    return found.hexdigest()


def outcome(path: Path, original: Original) -> str:
    """Return how the run over a file ends; anything but the known ways names the exception."""
    try:
        return SAME if answers(path, original.text) == original.answers else OTHER
    except ArtifactError:
        return REFUSED
    except KbnfError:
        return OTHER
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def mutate(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Return a file with damage of some kind; ``other`` is a file to take pieces from."""
    return rng.choice(_MUTATIONS)(rng, data, other)


def forge(rng: random.Random, data: bytes, path: Path) -> None:
    """Write a file with arrays or fields that nobody compiled, and digests that fit them."""
    path.write_bytes(data)
    arrays, fields = _read(path)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if rng.random() < 0.15:
            _edit(rng, fields)
        else:
            # What an earlier change left odd may not be there to be changed again.
            with suppress(IndexError, ValueError, TypeError, KeyError):
                _forge_array(rng, arrays)
    write_forged(path, arrays, fields)


def write_forged(path: Path, arrays: Mapping[str, Array], fields: Mapping[str, Any]) -> None:
    """Write an artifact with digests that fit, whatever is in it."""
    sections = fields.get("sections")
    if isinstance(sections, dict):
        for section in sections.values():
            if isinstance(section, dict) and isinstance(section.get("arrays"), list):
                names = [name for name in section["arrays"] if isinstance(name, str)]
                section["digest"] = digest({n: arrays[n] for n in names if n in arrays})
    write_container(path, arrays, {"kbnf": fields, "digest": manifest_digest(fields)})


def rewrite(path: Path, arrays: Mapping[str, Array], **fields: object) -> None:
    """Replace arrays and fields of an artifact, with digests that fit."""
    old, manifest = _read(path)
    write_forged(path, {**old, **arrays}, {**manifest, **fields})


def _read(path: Path) -> tuple[Arrays, dict[str, Any]]:
    arrays, metadata = read_container(path)
    return {name: np.array(array) for name, array in arrays.items()}, metadata["kbnf"]


# Mutations.


def _flip(rng: random.Random, data: bytes, _: bytes) -> bytes:
    changed = bytearray(data)
    # The header deserves as many attempts as the arrays, which are longer.
    end = rng.choice((len(data), 8 + int.from_bytes(data[:8], "little")))
    for _bit in range(rng.choice((1, 1, 2, 3, 16))):
        changed[rng.randrange(end)] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(rng: random.Random, data: bytes, _: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def _overwrite(rng: random.Random, data: bytes, other: bytes) -> bytes:
    begin = rng.randrange(len(data))
    length = min(rng.choice((1, 4, 64, 512, 4096)), len(data) - begin)
    piece = rng.choice((bytes(length), b"\xff" * length, rng.randbytes(length), other[begin:]))
    return data[:begin] + piece[:length] + data[begin + length :]


def _insert(rng: random.Random, data: bytes, _: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.choice((1, 4, 8, 4096))) + data[at:]


def _swap(rng: random.Random, data: bytes, _: bytes) -> bytes:
    """Exchange two stretches of one length."""
    length = rng.choice((1, 4, 8, 64, 512))
    if len(data) < 4 * length:
        return data
    first = rng.randrange(len(data) // 2 - length)
    second = rng.randrange(len(data) // 2, len(data) - length)
    one, two = data[first : first + length], data[second : second + length]
    return data[:first] + two + data[first + length : second] + one + data[second + length :]


def _edit_header(rng: random.Random, data: bytes, other: bytes) -> bytes:
    header, body = _split(data)
    _edit(rng, header)
    return _joined(header, body)


def _edit_manifest(rng: random.Random, data: bytes, other: bytes) -> bytes:
    header, body = _split(data)
    metadata = json.loads(header["__metadata__"]["json"])
    _edit(rng, metadata)
    header["__metadata__"]["json"] = json.dumps(metadata)
    return _joined(header, body)


def _swap_places(rng: random.Random, data: bytes, _: bytes) -> bytes:
    """Exchange the names of two arrays."""
    header, body = _split(data)
    one, two = rng.sample([name for name in header if name != "__metadata__"], 2)
    header[one], header[two] = header[two], header[one]
    return _joined(header, body)


def _take_header(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Put one file's header before another's arrays."""
    return _joined(_split(other)[0], _split(data)[1])


_MUTATIONS: tuple[Callable[[random.Random, bytes, bytes], bytes], ...] = (
    *(_flip, _flip, _flip, _cut, _overwrite, _insert, _swap),
    *(_edit_header, _edit_manifest, _swap_places, _take_header),
)


def _split(data: bytes) -> tuple[dict[str, Any], bytes]:
    end = 8 + int.from_bytes(data[:8], "little")
    return json.loads(data[8:end]), data[end:]


def _joined(header: Mapping[str, Any], body: bytes) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + body


_ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 2**31, 2**61, 2**63, 10**30, 0.5, 1e308),
    *("", "eager", "1", "\ud800", "\x1b[31m", "U8", "I64", "masks"),
    *([], [0], [-1], [True], [0, 2**61, 2**61], [2**61], [[]], [[1, 2]], [None]),
    *({}, {"arrays": [], "digest": ""}, {"dtype": "I32", "shape": [0], "data_offsets": [0, 0]}),
)


def _edit(rng: random.Random, document: Any) -> None:
    """Change one value somewhere in a JSON document, or leave one out."""
    while True:
        keys = list(document) if isinstance(document, dict) else list(range(len(document)))
        if not keys:
            return
        key = rng.choice(keys)
        inside = document[key]
        if not isinstance(inside, dict | list) or not inside or rng.random() < 0.2:
            break
        document = inside
    if rng.random() < 0.1:
        del document[key]
    elif type(inside) is int and rng.random() < 0.5:
        document[key] = inside + rng.choice((-8, -1, 1, 8))
    else:
        document[key] = rng.choice(_ODD_VALUES)


# Forgeries.


def _forge_array(rng: random.Random, arrays: Arrays) -> None:
    name = rng.choice([name for name in arrays if not name.endswith(".start")])
    if f"{name}.start" in arrays and rng.random() < 0.5:
        rng.choice(_LIST_FORGERIES)(rng, arrays, name)
        return
    if rng.random() < 0.1:
        name = rng.choice(list(arrays))
    if arrays[name].size or rng.random() < 0.2:
        arrays[name] = rng.choice(_VALUE_FORGERIES)(rng, arrays[name])


def _shuffled(rng: random.Random, array: Array) -> Array:
    changed = array.copy().reshape(-1)
    order = list(range(changed.size))
    rng.shuffle(order)
    return changed[order].reshape(array.shape)


def _within_range(rng: random.Random, array: Array) -> Array:
    """Set a few values, or all, to others between the smallest and the largest."""
    if not array.size:
        return array
    low, high = int(array.min()), int(array.max())
    changed = array.copy().reshape(-1)
    count = rng.choice((1, 1, 2, 8, changed.size))
    for _ in range(min(count, 1_000)):
        changed[rng.randrange(changed.size)] = rng.randint(low, high)
    return changed.reshape(array.shape)


def _at_the_edge(rng: random.Random, array: Array) -> Array:
    """Set a value just outside of the existing ones, or at the end of the type."""
    if not array.size:
        return array
    bounds = np.iinfo(array.dtype)
    low, high = int(array.min()), int(array.max())
    value = rng.choice((low - 1, high + 1, high + 2, 0, -1, bounds.min, bounds.max))
    changed = array.copy().reshape(-1)
    changed[rng.randrange(changed.size)] = min(max(value, bounds.min), bounds.max)
    return changed.reshape(array.shape)


def _reshaped(rng: random.Random, array: Array) -> Array:
    choices = (array.reshape(-1), array.reshape(1, -1), array[:0], array[..., None])
    return rng.choice((*choices, np.zeros((), array.dtype), np.zeros((0, 7), array.dtype)))


def _retyped(rng: random.Random, array: Array) -> Array:
    kinds = (np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint32, np.uint64, np.float32)
    return array.astype(rng.choice(kinds))


def _longer(rng: random.Random, array: Array) -> Array:
    if not array.ndim or not len(array):
        return array
    row = rng.randrange(len(array))
    return np.concatenate([array, array[row : row + 1]])


def _shorter(rng: random.Random, array: Array) -> Array:
    if not array.ndim or not len(array):
        return array
    return np.delete(array, rng.randrange(len(array)), axis=0)


_VALUE_FORGERIES: tuple[Callable[[random.Random, Array], Array], ...] = (
    *(_shuffled, _within_range, _within_range, _within_range, _at_the_edge, _at_the_edge),
    *(_reshaped, _retyped, _longer, _shorter),
)


def _lists(arrays: Arrays, name: str) -> list[Array]:
    return np.split(arrays[name], arrays[f"{name}.start"][1:-1])


def _put(arrays: Arrays, name: str, lists: list[Array]) -> None:
    start = np.zeros(len(lists) + 1, np.int32)
    np.cumsum([len(each) for each in lists], out=start[1:])
    arrays[f"{name}.start"] = start
    arrays[name] = np.concatenate([arrays[name][:0], *lists])


def repeat_list(rng: random.Random, arrays: Arrays, name: str) -> None:
    """Put the content of one list in the place of another: two numbers, one content."""
    lists = _lists(arrays, name)
    for _ in range(rng.choice((1, 2, len(lists) // 2))):
        lists[rng.randrange(len(lists))] = rng.choice(lists)
    _put(arrays, name, lists)


def _exchange_lists(rng: random.Random, arrays: Arrays, name: str) -> None:
    lists = _lists(arrays, name)
    rng.shuffle(lists)
    _put(arrays, name, lists)


def _add_lists(rng: random.Random, arrays: Arrays, name: str) -> None:
    """Add repeated or empty lists after the others."""
    lists = _lists(arrays, name)
    count = rng.choice((1, 2, 16, 1_000))
    _put(arrays, name, lists + [rng.choice((lists[-1], lists[-1][:0]))] * count)


def _move_bound(rng: random.Random, arrays: Arrays, name: str) -> None:
    """Let a list begin elsewhere, between the beginnings of its neighbours."""
    start = arrays[f"{name}.start"]
    if len(start) > 2:
        at = rng.randrange(1, len(start) - 1)
        start[at] = rng.randint(int(start[at - 1]), int(start[at + 1]))


def _reverse_list(rng: random.Random, arrays: Arrays, name: str) -> None:
    lists = _lists(arrays, name)
    at = rng.randrange(len(lists))
    lists[at] = lists[at][::-1]
    _put(arrays, name, lists)


_LIST_FORGERIES: tuple[Callable[[random.Random, Arrays, str], None], ...] = (
    *(repeat_list, repeat_list, _exchange_lists, _add_lists, _move_bound, _reverse_list),
)
