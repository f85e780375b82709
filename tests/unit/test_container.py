"""Containers: what is written is read again, by safetensors too; damage is refused, never used."""

import json
import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbnf_core import container
from kbnf_core.container import (
    ContainerError,
    checksum,
    digest,
    read_container,
    write_container,
)
from kbnf_core.container_layout import LARGEST_HEADER
from kbnf_core.text.errors import SourceError
from kbnf_testing.samples import examples

ARRAYS: dict[str, np.ndarray[Any, Any]] = {
    "next": np.arange(12, dtype=np.int32).reshape(3, 4),
    "odd": np.array([1, 2, 255], np.uint8),
    "flags": np.array([True, False, True]),
    "depth": np.array([7], np.uint16),
    "empty": np.zeros((0, 3), np.int64),
    "also empty": np.zeros(0, np.uint8),
    "items": np.array([-(2**40), 5], np.int64),
    "scalar": np.array(1.5),
    "logits": np.array([0.5, -np.inf], np.float32),
}
METADATA = {"format": 1, "names": ["a", "ключ"], "nested": {"none": None}}


def write(path: Path) -> Path:
    write_container(path, ARRAYS, METADATA)
    return path


def header_of(data: bytes) -> dict[str, Any]:
    return dict(json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")]))


def with_header(data: bytes, header: object) -> bytes:
    """Return ``data`` with another header in the place of its own."""
    body = data[8 + int.from_bytes(data[:8], "little") :]
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + body


def test_what_is_written_is_read(tmp_path: Path) -> None:
    arrays, metadata = read_container(write(tmp_path / "x"))
    assert metadata == METADATA
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        np.testing.assert_array_equal(arrays[name], array)


def test_arrays_are_read_only_and_aligned(tmp_path: Path) -> None:
    arrays, _ = read_container(write(tmp_path / "x"))
    for array in arrays.values():
        assert not array.flags.writeable
        assert array.flags.aligned
        assert array.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        arrays["next"][0, 0] = 5


def test_equal_contents_give_equal_bytes(tmp_path: Path) -> None:
    write_container(tmp_path / "x", ARRAYS, METADATA)
    backwards = dict(reversed(list(ARRAYS.items())))
    write_container(tmp_path / "y", backwards, dict(reversed(list(METADATA.items()))))
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()


def test_writing_leaves_nothing_else_behind(tmp_path: Path) -> None:
    write(tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_failing_to_write_leaves_the_old_file(tmp_path: Path) -> None:
    before = write(tmp_path / "x").read_bytes()
    with pytest.raises(ValueError, match="cannot contain an array of object"):
        write_container(tmp_path / "x", {"bad": np.array([None])}, {})
    with pytest.raises(ValueError, match="cannot be called"):
        write_container(tmp_path / "x", {"__metadata__": np.zeros(1)}, {})
    assert (tmp_path / "x").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_other_layouts_are_written_in_order(tmp_path: Path) -> None:
    array = np.arange(6, dtype=">i4").reshape(2, 3).T
    write_container(tmp_path / "x", {"a": array}, {})
    np.testing.assert_array_equal(read_container(tmp_path / "x")[0]["a"], array)


def test_safetensors_reads_it(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors")
    with safetensors.safe_open(write(tmp_path / "x"), "np") as file:
        assert set(file.keys()) == ARRAYS.keys()
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(file.get_tensor(name), array)


def test_it_reads_what_safetensors_writes(tmp_path: Path) -> None:
    numpy_files = pytest.importorskip("safetensors.numpy")
    numpy_files.save_file(ARRAYS, tmp_path / "x", metadata={"by": "safetensors"})
    arrays, metadata = read_container(tmp_path / "x")
    assert metadata == {"by": "safetensors"}
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        read_container(tmp_path / "x")


def test_every_cut_is_refused(tmp_path: Path) -> None:
    whole = write(tmp_path / "x").read_bytes()
    for length in range(len(whole)):
        (tmp_path / "cut").write_bytes(whole[:length])
        with pytest.raises(ContainerError):
            read_container(tmp_path / "cut")


def altered(**changes: object) -> Callable[[bytes], bytes]:
    def alter(data: bytes) -> bytes:
        header = header_of(data)
        header["next"] |= changes
        return with_header(data, header)

    return alter


DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "text": (lambda _: b"start ::= 'a';" * 20, "its header would have"),
    "header too long": (
        lambda data: (LARGEST_HEADER + 1).to_bytes(8, "little") + data[8:],
        "its header would have",
    ),
    "no JSON": (lambda data: data[:8] + b"x" + data[9:], "not JSON"),
    "no UTF-8": (lambda data: data[:9] + b"\xff" + data[10:], "not JSON"),
    "deep": (lambda _: (8000).to_bytes(8, "little") + b"[" * 8000, "header is not"),
    "a list": (lambda data: with_header(data, []), "not a JSON object"),
    "more at the end": (lambda data: data + b"\0", "1 bytes follow"),
    "unknown dtype": (altered(dtype="F8_E4M3"), "cannot be read: F8_E4M3"),
    "dtype of no text": (altered(dtype=["I32"]), "cannot be read"),
    "other item size": (altered(dtype="I64"), "does not fit"),
    "negative size": (altered(shape=[-3, -4]), "impossible"),
    "truth for a size": (altered(shape=[True, 12]), "impossible"),
    "no list": (altered(shape=12), "impossible"),
    "three offsets": (altered(data_offsets=[0, 4, 48]), "impossible"),
    "other shape": (altered(shape=[3, 5]), "does not fit"),
    "many dimensions": (altered(shape=[3, 4] + [1] * 30), "does not fit"),
    "backwards": (altered(data_offsets=[48, 0]), "does not fit"),
    "one more field": (altered(more=1), "not described"),
    "far away": (altered(data_offsets=[2**61, 2**61 + 48]), "begins at"),
    "empty and huge": (
        # An array of its own, that takes no bytes.
        lambda data: with_header(
            data,
            header_of(data)
            | {"a": {"dtype": "U8", "shape": [0, 2**61, 2**61], "data_offsets": [0, 0]}},
        ),
        "impossible",
    ),
    "huge": (altered(shape=[2**61], data_offsets=[16, 16 + 2**63]), "impossible"),
    "a gap": (lambda data: with_header(data, _without(header_of(data), "next")), "begins at"),
    "overlap": (altered(shape=[3], data_offsets=[16, 28]), "begins at"),
    "metadata of numbers": (
        lambda data: with_header(data, header_of(data) | {"__metadata__": {"a": 1}}),
        "not made of texts",
    ),
    "metadata no JSON": (
        lambda data: with_header(data, header_of(data) | {"__metadata__": {"json": "{"}}),
        "its metadata is not JSON",
    ),
    "metadata a list": (
        lambda data: with_header(data, header_of(data) | {"__metadata__": {"json": "[]"}}),
        "its metadata is not a JSON object",
    ),
}


def _without(header: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in header.items() if key != name}


@pytest.mark.parametrize(("damage", "reason"), DAMAGES.values(), ids=DAMAGES)
def test_damage_is_named(tmp_path: Path, damage: Callable[[bytes], bytes], reason: str) -> None:
    (tmp_path / "bad").write_bytes(damage(write(tmp_path / "x").read_bytes()))
    with pytest.raises(ContainerError, match=reason) as caught:
        read_container(tmp_path / "bad")
    assert caught.value.path == str(tmp_path / "bad")


def test_an_array_that_is_not_aligned_is_refused(tmp_path: Path) -> None:
    header = b'{"a":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}}'
    header += b" " * (1 - len(header) % 4 if len(header) % 4 < 2 else 5 - len(header) % 4)
    (tmp_path / "x").write_bytes(len(header).to_bytes(8, "little") + header + b"1234")
    with pytest.raises(ContainerError, match="not aligned"):
        read_container(tmp_path / "x")


@pytest.mark.parametrize(("read_up_to", "owner"), [(0, mmap.mmap), (10**6, bytes)])
def test_a_file_is_read_or_mapped(tmp_path: Path, read_up_to: int, owner: type) -> None:
    arrays, _ = read_container(write(tmp_path / "x"), read_up_to)
    assert all(isinstance(array.base, owner) for array in arrays.values())
    assert not any(array.flags.writeable for array in arrays.values())
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, ARRAYS[name])


@pytest.mark.parametrize("of", [checksum, digest])
def test_a_digest_is_of_names_types_shapes_and_contents(of: Callable[..., object]) -> None:
    array = np.arange(6, dtype=np.int32)
    variants: list[dict[str, npt.NDArray[Any]]] = [
        {"a": array},
        {"b": array},
        {"a": array.reshape(2, 3)},
        {"a": array.view(np.uint32)},
        {"a": array[::-1]},
        {"a": array, "b": array[:0]},
        {"a": array[:3], "b": array[3:]},
        {},
    ]
    assert len({of(each) for each in variants}) == len(variants)
    assert of({"a": array, "b": array}) == of({"b": array.copy(), "a": array})


def test_what_is_digested_of_an_array_beside_its_bytes_is_json() -> None:
    for name in ("a", 'a "b"\\', "é\u2028", ""):
        for array in (np.zeros((2, 3), np.uint8), np.zeros((), np.float32), np.zeros(0, "i8")):
            head, data = container._digested(name, array)
            kind = {1: "U8", 4: "F32", 8: "I64"}[array.itemsize]
            assert head == json.dumps([name, kind, array.shape]).encode()
            assert bytes(data) == array.tobytes()


@given(seed=st.integers(0, 2**32), size=st.integers(4_096, 50_000))
@settings(max_examples=examples(25), deadline=None)
def test_a_checksum_tells_damage(seed: int, size: int) -> None:
    chance = np.random.default_rng(seed)
    data = chance.integers(0, 256, size, np.uint8)
    sound = checksum({"a": data})
    bit, block = data.copy(), data.copy()
    bit[chance.integers(size)] ^= 1 << int(chance.integers(8))
    start = 512 * int(chance.integers(size // 512 - 1))
    block[start : start + 512] = 0
    moved = np.concatenate([data[512 : 512 * (size // 512)], data[:512], data[size // 512 * 512 :]])
    assert sound not in {checksum({"a": damaged}) for damaged in (bit, block, moved)}


def test_truth_values_are_0_or_1(tmp_path: Path) -> None:
    write_container(tmp_path / "x", {"flags": np.array([True])}, {})
    data = (tmp_path / "x").read_bytes()
    (tmp_path / "x").write_bytes(data[:-1] + b"\2")
    with pytest.raises(ContainerError, match="truth values"):
        read_container(tmp_path / "x")


@settings(deadline=None)
@given(data=st.data())
def test_changed_bytes_are_refused_or_stay_within_the_file(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("container")
    content = bytearray(write(folder / "x").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    (folder / "x").write_bytes(content)
    try:
        arrays, _ = read_container(folder / "x")
    except ContainerError:
        return
    for array in arrays.values():
        assert array.tobytes() in bytes(content)
