"""Records are what dataclasses are, and the functions of ``dataclasses`` take them."""

import copy
import dataclasses
import inspect
import pickle
from functools import cached_property
from typing import Any

import pytest

from kbnf_core.text.records import field, names_of, record, replace


@record
class Point:
    """A place."""

    x: int
    y: int = 0
    names: list[str] = field(default_factory=list)
    source: str = field(default_factory=str, shown=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Standard:
    """A place as ``dataclasses`` has it."""

    x: int
    y: int = 0
    names: list[str] = dataclasses.field(default_factory=list)
    source: str = dataclasses.field(default_factory=str, repr=False)


@record(frozen=False, eq=False)
class Mutable:
    """What can change, and is equal to itself alone."""

    x: int


@record(frozen=False, eq=False)
class Derived(Mutable):
    """What has one value more, given by name."""

    y: int = field(kw_only=True)


@record(caching=True)
class Squared:
    """What is worked out once."""

    x: int

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError(self.x)

    @cached_property
    def square(self) -> list[int]:
        """The square."""
        return [self.x**2]


@pytest.mark.parametrize("given", [{"x": 1}, {"x": 1, "y": 2, "names": ["a"], "source": "b"}])
def test_a_record_is_what_a_dataclass_is(given: dict[str, Any]) -> None:
    ours, theirs = Point(**given), Standard(**given)
    assert repr(ours) == repr(theirs).replace("Standard", "Point")
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
    assert ours == Point(**given) != Point(**given | {"x": 3})
    assert ours != object()
    assert ours.__match_args__ == theirs.__match_args__ == names_of(Point)
    assert list(inspect.signature(Point).parameters) == list(inspect.signature(Standard).parameters)
    assert dataclasses.is_dataclass(ours)
    found = [each.default for each in dataclasses.fields(Point)]
    assert found == [each.default for each in dataclasses.fields(Standard)]
    assert not hasattr(ours, "__dict__")


def test_defaults_are_made_for_each() -> None:
    assert Point(1).names is not Point(1).names
    with pytest.raises(TypeError):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Point(1, z=1)  # type: ignore[call-arg]


def test_frozen_ones_refuse_changes_and_are_keys() -> None:
    squared = Squared(3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        squared.x = 4  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del squared.x
    assert {squared: 1}[Squared(3)] == 1
    with pytest.raises(ValueError, match="-1"):
        Squared(-1)
    with pytest.raises(TypeError):
        hash(Point(1))


def test_copies_and_pickles_are_equal() -> None:
    point = Point(1, names=["a"])
    pickled = pickle.loads(pickle.dumps(point))  # noqa: S301 - our own
    assert copy.copy(point) == copy.deepcopy(point) == pickled == point
    assert replace(point, y=3) == dataclasses.replace(point, y=3) == Point(1, 3, ["a"])
    assert replace(Squared(2), x=5).square == [25]
    squared = Squared(2)
    assert squared.square is squared.square


def test_derived_ones_have_the_fields_of_their_bases() -> None:
    derived = Derived(1, y=2)
    derived.x = 5
    assert (derived.x, derived.y) == (5, 2)
    assert derived != Derived(5, y=2)
    assert names_of(Derived) == ("x", "y")
    with pytest.raises(TypeError):
        Derived(1, 2)  # type: ignore[call-arg]
