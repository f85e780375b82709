"""Data classes that are quick to make are those of the standard library in all that can be seen."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, ClassVar

import pytest

from kbnf_core.text.records import dataclass

NAMES = ("frozen", "eq", "slots")
FORMS = [dict(zip(NAMES, each, strict=True)) for each in product((0, 1), repeat=3)]
VALUES: list[dict[str, Any]] = [
    {"one": 1, "last": 2},
    {"one": 1, "last": 2, "hidden": 7},
    {"one": 1, "last": 2, "aside": "x"},
    {"one": 1, "last": 3},
    {"one": (), "two": "é", "many": [1], "last": None},
]


def make(decorate: Callable[..., Any], **form: Any) -> Any:
    class Record:
        kind: ClassVar[str] = "k"
        one: Any
        two: str = "2"
        many: list[int] = dataclasses.field(default_factory=list)
        hidden: int = dataclasses.field(default=0, repr=False)
        aside: str = dataclasses.field(default="", compare=False)
        last: Any = dataclasses.field(kw_only=True)

    Record.__qualname__ = "Record"
    return decorate(**form)(Record)


def outcome(call: Callable[[], object]) -> object:
    """Return what a call returns, or the error."""
    try:
        return call()
    except (TypeError, AttributeError) as error:
        return type(error), str(error).partition("(")[0]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_records_are_the_librarys(form: dict[str, Any]) -> None:
    ours, theirs = (make(decorate, **form) for decorate in (dataclass, dataclasses.dataclass))
    assert ours.__match_args__ == theirs.__match_args__
    assert hasattr(ours, "__slots__") == hasattr(theirs, "__slots__")
    names = [[each.name for each in dataclasses.fields(made)] for made in (ours, theirs)]
    assert names[0] == names[1]
    seen: list[list[object]] = []
    for made in (ours, theirs):
        items = [made(**copy.deepcopy(values)) for values in VALUES]
        found: list[object] = [repr(item) for item in items]
        found += [[one == other for other in items] for one in items]
        found += [items[0] == 1, outcome(made), made(3, last=1).two]
        if form["eq"]:
            found += [outcome(partial(hash, item)) for item in items]
        found += [outcome(partial(setattr, items[0], "one", 9)), repr(items[0])]
        found += [outcome(partial(delattr, items[1], "two"))]
        found += [repr(copy.copy(item)) for item in items[2:]]
        found += [repr(dataclasses.replace(item, two="new")) for item in items[2:]]
        items[4].many.append(items[4])
        found.append(repr(items[4]))
        assert items[0].many is not made(**VALUES[0]).many
        seen.append(found)
    assert seen[0] == seen[1]


@dataclass(frozen=True, slots=True)
class Checked:
    """Two numbers in order."""

    low: int
    high: int = 9

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(self.low)

    def __repr__(self) -> str:
        return "own"


def test_what_a_class_has_itself_stays_and_it_can_be_pickled() -> None:
    checked = Checked(3)
    assert repr(checked) == "own"
    assert pickle.loads(pickle.dumps(checked)) == checked  # noqa: S301 - our own
    with pytest.raises(ValueError, match="10"):
        Checked(10)
    with pytest.raises(dataclasses.FrozenInstanceError):
        checked.low = 4  # type: ignore[misc]
