"""The rules that are still to be made: each once, and not more than allowed."""

import pytest

from kbnf_core.ir.families import Members, TooManyMembersError, family_of, member_name


def test_each_is_made_once_and_the_newest_first() -> None:
    members: Members[int] = Members(10)
    members.add("a@0", 0, "a")
    seen = []
    for number in members:
        seen.append(number)
        if number < 3:
            members.add(member_name("a", number + 1), number + 1, "a")
            members.add(member_name("a", number), number, "a")
    assert seen == [0, 1, 2, 3]


def test_the_limit_names_the_family() -> None:
    members: Members[int] = Members(2)
    members.add("a@0", 0, "a")
    members.add("a@1", 1, "a")
    members.add("a@0", 0, "a")
    with pytest.raises(TooManyMembersError) as raised:
        members.add("b@0", 0, "b")
    assert raised.value.family == "b"


def test_names() -> None:
    assert member_name("block", 4) == "block@4"
    assert family_of("block@4") == "block"
    assert family_of("block") == "block"
