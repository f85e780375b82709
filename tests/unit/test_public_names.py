"""The public names of the package: the same at run time and for type checkers, each once."""

import kbnf_core
from kbnf_testing.public_names import STUB, stub


def test_the_stub_has_the_public_names() -> None:
    assert STUB.read_text(encoding="utf-8") == stub()


def test_each_name_has_one_module() -> None:
    names = [name for each in kbnf_core._PUBLIC.values() for name in each]
    assert sorted(names) == sorted(kbnf_core.__all__)
    assert len(set(names)) == len(names)
    assert all(hasattr(kbnf_core, name) for name in names)
