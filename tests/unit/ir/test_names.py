"""Names of rules that are made: each once, close to the wanted one."""

from kbnf_core.conversion.to_kbnf import Identifiers
from kbnf_core.ir.names import FreshNames
from kbnf_testing.counted import calls


def test_the_wanted_name_or_one_with_a_number() -> None:
    names = FreshNames(["a", "b_2"])
    assert [names.fresh(each) for each in ("a", "a", "b", "b", "c")] == [
        "a_2",
        "a_3",
        "b",
        "b_3",
        "c",
    ]


def test_a_name_that_was_given_out_may_be_wanted() -> None:
    names = FreshNames(joint="-")
    assert [names.fresh(each) for each in ("a", "a", "a-2", "a")] == ["a", "a-2", "a-2-2", "a-3"]


def test_a_taken_name_is_not_given_out() -> None:
    names = FreshNames()
    assert names.take("a")
    assert not names.take("a")
    assert names.fresh("a") == "a_2"


def test_a_copy_goes_its_own_way() -> None:
    names = Identifiers()
    names.of("key", "a")
    other = names.copy()
    assert (other.of("other", "a"), names.of("third", "a"), other.of("key", "")) == (
        "a_2",
        "a_2",
        "a",
    )


def test_thousands_of_equal_wishes_are_linear() -> None:
    def give(count: str) -> None:
        names = FreshNames()
        for _ in range(int(count)):
            names.fresh("a")

    assert calls(give, "4000") < 5 * 4_000
