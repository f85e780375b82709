"""What a server asks of an engine: counts, drafts, rows, ends, stop ids, batches."""

import array
import copy
import os
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kbnf_core import (
    Config,
    Engine,
    Grammar,
    Limits,
    Vocabulary,
    VocabularyError,
    allocate_bitmask,
    apply_bitmask,
    compile_artifact,
    fill_bitmasks,
    load_artifact,
)

torch = pytest.importorskip("torch", reason="torch is not installed (extra `torch`)")

VOCABULARY = Vocabulary({0: b"a", 1: b"b", 2: b"ab", 3: b"c", 35: b"d"}, eos_token_id=[4, 34])
GRAMMAR = Grammar('start ::= "a"* "b";', finish="eos")
INF = float("inf")


def engine(text: bytes = b"", **settings: Any) -> Engine:
    made = Engine(GRAMMAR, VOCABULARY, **settings)
    made.try_accept_new_bytes(text)
    return made


def bits(row: Any) -> list[int]:
    words = np.ascontiguousarray(np.asarray(row)).view(np.uint8)
    ids: list[int] = np.flatnonzero(np.unpackbits(words, bitorder="little")).tolist()
    return ids


def row_of(one: Engine, words: int = 2) -> list[int]:
    out = np.full(words, -1, np.int32)
    one.fill_bitmask(out)
    return bits(out)


def state(one: Engine) -> tuple[object, ...]:
    return one.accepted, one.is_finished(), one.get_allowed_token_ids_from_last_computation()


@pytest.mark.parametrize(
    ("ids", "count"),
    [([], 0), ([0, 2], 2), ([0, 3, 1], 1), ([99], 0), ([2**70], 0), ([-1], 0), ([1, 4], 2),
     ([1, 4, 4], 2), ([1, 34, 0], 2), ([2, 0], 1)],
)  # fmt: skip
def test_tokens_are_counted_up_to_the_first_that_cannot_come(ids: list[int], count: int) -> None:
    one = engine()
    before = state(one)
    assert one.validate_tokens(ids) == count
    assert state(one) == before
    assert one.accept_tokens(ids) == count
    assert one.accepted[1:] == tuple(ids[:count])


@pytest.mark.parametrize("ids", [torch.tensor([0, 1]), np.array([0, 1]), (0, 1)])
def test_ids_are_any_integers(ids: Any) -> None:
    assert engine().accept_tokens(ids) == 2


def test_what_is_no_id_changes_nothing() -> None:
    one = engine()
    before = state(one)
    with pytest.raises(TypeError):
        one.accept_tokens([0, "a"])  # type: ignore[list-item]
    assert state(one) == before


def test_the_way_back_goes_over_the_end() -> None:
    one = engine()
    assert one.accept_tokens([0, 1, 4]) == 3
    assert one.is_finished()
    assert one.accept_tokens([4]) == 0
    assert row_of(one) == [4, 34]
    one.rollback(2)
    assert row_of(one) == [0, 1, 2]


def test_a_row_is_defined_after_the_end_and_where_the_text_is_stuck() -> None:
    silent = Vocabulary({0: b"a", 1: b"b", 40: b"bb"})
    over = Engine('start ::= "a";', silent, finish="token")
    assert not over.is_stuck()
    over.accept_tokens([0])
    assert row_of(over) == list(range(41))
    assert not over.is_stuck()
    stuck = Engine('start ::= "a" "x";', silent)
    stuck.accept_tokens([0])
    assert stuck.is_stuck()
    assert row_of(stuck) == []
    ends = Engine('start ::= "a" "x";', VOCABULARY)
    ends.accept_tokens([0])
    assert ends.is_stuck()
    assert not ends._automaton.masks.unions
    assert not Engine('start ::= "x";', silent, after="b").is_stuck()
    assert row_of(ends) == [4, 34]


def test_a_complete_text_that_nothing_can_end_is_not_stuck() -> None:
    one = Engine('start ::= "a";', Vocabulary({0: b"a"}), finish="eos")
    one.accept_tokens([0])
    assert not one.is_finished()
    assert not one.is_stuck()
    assert row_of(one) == [0]


def test_settings_are_keywords_too() -> None:
    assert engine(finish="token").finish.value == "token"
    assert Engine(GRAMMAR, VOCABULARY, Config(finish="eager"), finish="eos").finish.value == "eos"
    with pytest.raises(ValueError, match="E107"):
        Engine('start ::= #"[a-z]{40}";', VOCABULARY, limits=Limits(work=3))


@pytest.mark.parametrize("stop", [3, [3], {3, 5}, [3, 70], torch.tensor(3)])
def test_stop_ids_are_those_of_the_engine(stop: Any) -> None:
    one = engine(b"ab", stop_token_ids=stop)
    wanted = sorted(int(each) for each in (stop if isinstance(stop, list | set) else [stop]))
    assert row_of(one, 3) == wanted
    assert one.accept_tokens([4]) == 0
    assert one.accept_tokens([wanted[-1]]) == 1
    assert one.is_finished()
    assert row_of(one, 3) == wanted
    one.rollback(1)
    assert not one.is_finished()
    again = pickle.loads(pickle.dumps(one))  # noqa: S301 - pickled right here
    assert row_of(again, 3) == wanted


def test_equal_stop_ids_share_what_is_known() -> None:
    assert engine(stop_token_ids=[3]).vocabulary is engine(stop_token_ids={3}).vocabulary
    assert engine(stop_token_ids=[34, 4]).vocabulary is VOCABULARY
    with pytest.raises(VocabularyError):
        engine(stop_token_ids=-1)
    with pytest.raises(VocabularyError):
        engine(stop_token_ids="</s>")  # noqa: S106 - no password


def test_an_artifact_takes_other_stop_ids(tmp_path: Any) -> None:
    compile_artifact(GRAMMAR, VOCABULARY, tmp_path / "a")
    loaded = load_artifact(tmp_path / "a")
    one = Engine(loaded, VOCABULARY, stop_token_ids=5)
    one.try_accept_new_bytes(b"ab")
    assert row_of(one) == [5]


def _dlpack(out: Any) -> Any:
    class Only:
        def __dlpack__(self, **options: Any) -> Any:
            return out.__dlpack__(**options)

        def __dlpack_device__(self) -> Any:
            return out.__dlpack_device__()

    return Only()


MAKERS: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda out: out,
    "torch": torch.from_numpy,
    "dlpack": _dlpack,
    "buffer": memoryview,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_row_is_filled_wherever_it_is(make: Callable[[Any], Any]) -> None:
    one = engine()
    whole = np.full((3, 3), -1, np.int32)
    one.fill_bitmask(make(whole), 1)
    assert [bits(row) for row in whole] == [list(range(96)), [0, 1, 2], list(range(96))]
    single = np.full((1, 2), -1, np.int32)
    one.fill_bitmask(make(single))
    assert bits(single) == [0, 1, 2]
    flat = np.full(2, -1, np.int32)
    one.fill_bitmask(make(flat), row=0)
    assert bits(flat) == [0, 1, 2]


def test_an_array_of_the_standard_library_is_filled() -> None:
    out = array.array("i", [0, 0])
    engine().fill_bitmask(out)
    assert list(out) == [7, 0]


@pytest.mark.parametrize(
    ("out", "row", "kind"),
    [
        (np.zeros((2, 2), np.int32), None, ValueError),
        (np.zeros((2, 2), np.int32), 2, ValueError),
        (np.zeros((2, 2), np.int32), -1, ValueError),
        (np.zeros(2, np.int32), 1, ValueError),
        (np.zeros((2, 1), np.int32), 0, ValueError),
        (np.zeros((2, 2), np.int64), 0, ValueError),
        (np.zeros((2, 2, 2), np.int32), 0, ValueError),
        (torch.zeros(2, dtype=torch.int64), None, ValueError),
        (b"12345678", None, ValueError),
        ([0, 0], None, TypeError),
        (None, None, TypeError),
    ],
)
def test_what_cannot_be_filled_is_refused(out: Any, row: Any, kind: type[Exception]) -> None:
    one = engine()
    before = state(one)
    with pytest.raises(kind):
        one.fill_bitmask(out, row)
    assert state(one) == before


@pytest.mark.parametrize(
    ("draft", "fitting"), [([], 0), ([0, 0, 1, 4], 4), ([0, 3, 0], 1), ([3], 0), ([1, 4, 4], 2)]
)
def test_the_rows_of_a_draft_are_those_of_its_steps(draft: list[int], fitting: int) -> None:
    one = engine()
    before = state(one)
    out = torch.zeros((7, 2), dtype=torch.int32)
    assert one.fill_draft_bitmask(out, 1, draft) == fitting
    assert state(one) == before
    twin = copy.copy(one)
    for place in range(len(draft) + 1):
        expected = row_of(twin) if place <= fitting else list(range(64))
        assert bits(out[1 + place]) == expected
        twin.accept_tokens(draft[place : place + 1])
    assert not out[0].any()
    assert not out[len(draft) + 2 :].any()


def test_a_draft_without_room_writes_nothing() -> None:
    out = np.zeros((3, 2), np.int32)
    with pytest.raises(ValueError, match="row 3"):
        engine().fill_draft_bitmask(out, 1, [0, 0])
    assert not out.any()


@pytest.mark.parametrize("threads", [None, 1, 2, 5])
def test_a_batch_is_its_rows(threads: int | None) -> None:
    out = np.zeros((9, 3), np.int32)
    engines = [engine(), None, engine(b"aab"), engine(b"a", stop_token_ids=3)]
    fill_bitmasks(engines, torch.from_numpy(out), rows=[8, 0, 3, 5], threads=threads)
    assert [bits(out[row]) for row in (8, 0, 3, 5)] == [
        [0, 1, 2], list(range(96)), [4, 34], [0, 1, 2],
    ]  # fmt: skip
    assert not out[[1, 2, 4, 6, 7]].any()
    fill_bitmasks(engines, out, threads=threads)
    assert bits(out[2]) == [4, 34]
    fill_bitmasks([], out, threads=threads)


def test_threads_write_every_row_of_a_large_batch() -> None:
    engines = [None if i % 7 == 0 else engine(b"a" * (i % 5)) for i in range(300)]
    alone, shared = allocate_bitmask(300, 64), np.zeros((300, 2), np.int32)
    fill_bitmasks(engines, alone)
    for _ in range(20):
        shared[:] = 0
        fill_bitmasks(engines, shared, threads=4)
        assert (shared == alone).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_fills_batches_though_the_helping_threads_stay_behind() -> None:
    engines, out = [engine() for _ in range(100)], allocate_bitmask(100, 64)
    fill_bitmasks(engines, out, threads=2)
    child = os.fork()
    if child == 0:
        again = np.zeros_like(out)
        fill_bitmasks(engines, again, threads=2)
        os._exit(0 if (again == out).all() else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(
    ("shape", "rows"), [((2, 2), [0]), ((2, 2), [0, 2]), ((2, 2), [-1, 0]), ((2, 1), None),
                        ((1, 2), None)],
)  # fmt: skip
def test_a_batch_that_does_not_fit_writes_nothing(
    shape: tuple[int, int], rows: list[int] | None
) -> None:
    out = np.zeros(shape, np.int32)
    with pytest.raises(ValueError, match=r"bitmask|rows"):
        fill_bitmasks([engine(), engine()], out, rows)
    assert not out.any()


def test_a_new_bitmask_allows_everything() -> None:
    out = allocate_bitmask(2, 33)
    assert out.shape == (2, 2)
    assert out.dtype == np.int32
    assert (out == -1).all()


DTYPES = [np.float16, np.float32, np.float64, torch.float16, torch.bfloat16, torch.float32,
          torch.float64]  # fmt: skip


def zeros(dtype: Any, *shape: int) -> Any:
    is_numpy = isinstance(dtype, type)
    return np.zeros(shape, dtype) if is_numpy else torch.zeros(shape, dtype=dtype)


def kept(logits: Any) -> list[list[int]]:
    values = np.asarray(logits.tolist())
    assert set(np.unique(values)) <= {0.0, -INF}
    return [np.flatnonzero(row == 0).tolist() for row in np.atleast_2d(values)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_bitmask_is_applied_row_by_row(dtype: Any) -> None:
    bitmask = np.array([[7, 0], [0, 1], [-1, -1]], np.int32)
    everything = list(range(70))
    whole = apply_bitmask(zeros(dtype, 3, 70), bitmask)
    assert kept(whole) == [[0, 1, 2], [32], list(range(64))]
    some = zeros(dtype, 3, 70)
    assert apply_bitmask(some, torch.from_numpy(bitmask), rows=[1]) is some
    assert kept(some) == [everything, [32], everything]
    assert kept(apply_bitmask(zeros(dtype, 70), bitmask[0])) == [[0, 1, 2]]
    assert kept(apply_bitmask(zeros(dtype, 3, 33), bitmask)) == [[0, 1, 2], [32], list(range(33))]
    strided = zeros(dtype, 6, 140)
    apply_bitmask(strided[::2, ::2], bitmask)
    assert kept(strided[::2, ::2]) == [[0, 1, 2], [32], list(range(64))]
    assert kept(strided[1::2]) == [list(range(140))] * 3


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_an_engine_masks_a_batch_of_padded_logits(dtype: Any) -> None:
    assert kept(engine().mask_logits(zeros(dtype, 3, 70))) == [[0, 1, 2]] * 3


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_inference_tensors_and_leaves_with_gradients_are_masked(dtype: Any) -> None:
    with torch.inference_mode():
        inferred = torch.zeros((2, 70), dtype=dtype)
    leaf = torch.zeros((2, 70), dtype=dtype, requires_grad=True)
    bitmask = np.array([[7, 0]], np.int32).repeat(2, 0)
    for logits in (inferred, leaf):
        assert apply_bitmask(logits, bitmask) is logits
        assert kept(logits) == [[0, 1, 2]] * 2
        assert engine(b"ab").mask_logits(logits) is logits
        assert kept(logits) == [[]] * 2
    assert leaf.requires_grad


@pytest.mark.parametrize(
    ("logits", "bitmask", "rows", "kind"),
    [
        (np.zeros((2, 40), np.float32), np.zeros((3, 2), np.int32), None, ValueError),
        (np.zeros((2, 40), np.float32), np.zeros((3, 2), np.int32), [2], ValueError),
        (np.zeros((2, 40), np.float32), np.zeros((2, 2), np.int32), [-1], ValueError),
        (np.zeros((2, 2, 40), np.float32), np.zeros((2, 2), np.int32), None, ValueError),
        (np.zeros((2, 40), np.int32), np.zeros((2, 2), np.int32), None, TypeError),
        (np.zeros((2, 40), np.float32), np.zeros((2, 2), np.int64), None, ValueError),
        ([0.0], np.zeros((1, 1), np.int32), None, TypeError),
    ],
)
def test_what_cannot_be_masked_is_refused(
    logits: Any, bitmask: Any, rows: Any, kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        apply_bitmask(logits, bitmask, rows)
    assert not np.asarray(logits).any()


def test_a_batch_is_over_one_vocabulary() -> None:
    words = {0: b"a", 1: b"c", 2: b"ab", 3: b"b", 35: b"d"}
    other = Engine(GRAMMAR, Vocabulary(words, eos_token_id=[4, 34]))
    equal = Engine(GRAMMAR, Vocabulary(VOCABULARY.tokens, eos_token_id=[4, 34]))
    out = np.zeros((3, 2), np.int32)
    with pytest.raises(VocabularyError, match="over one vocabulary, not 2"):
        fill_bitmasks([engine(), None, other], out)
    assert not out.any()
    fill_bitmasks([engine(), engine(stop_token_ids=3), equal], out)
    assert out.any(1).all()


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_logits_without_minus_infinity_are_refused(dtype: Any) -> None:
    for shape in ((40,), (2, 40)):
        with pytest.raises(TypeError, match="have no minus infinity: use a wider type"):
            engine().mask_logits(torch.zeros(shape).to(dtype))


def test_sparse_tensors_are_refused() -> None:
    with pytest.raises(TypeError, match="logits must be a dense tensor"):
        engine().mask_logits(torch.zeros(2, 40).to_sparse())
    bitmask = torch.zeros(1, 2, dtype=torch.int32).to_sparse()
    with pytest.raises(TypeError, match="a bitmask is a dense tensor"):
        engine().fill_bitmask(bitmask)
    with pytest.raises(TypeError, match="a bitmask is a dense tensor"):
        apply_bitmask(torch.zeros(1, 40), bitmask)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(40,), (2, 40)])
def test_tensors_with_gradients_and_views_are_masked(dtype: Any, shape: tuple[int, ...]) -> None:
    leaf = torch.zeros(shape, dtype=dtype, requires_grad=True)
    for logits in (leaf, leaf * 2, torch._neg_view(torch.zeros(shape, dtype=dtype))):
        masked = engine().mask_logits(logits)
        assert masked is logits
        assert int(torch.isfinite(masked).sum()) == 3 * len(shape)
