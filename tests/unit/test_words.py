"""Names, docstrings and comments of the source have no words that the field does not use.

What is left is in ``tests/words.json``, which only shrinks; ``kbnf_testing.words`` has the lists.
"""

import json

from kbnf_testing.words import (
    FILE,
    NAMES,
    ROOT,
    comments,
    cython,
    docstrings,
    named_tests,
    names,
    sentences,
    sources,
    tallies,
)

REWRITE = "`PYTHONPATH=tests/support python -m kbnf_testing.words` writes the list anew"

MODULE = '''
"""What is read."""

LEFT = 1
"""Who reads."""


class Found:
    """A class."""

    def _held(self, what: int) -> None:
        """Tell it."""
        # Stands for a number, and
        # holds one.
        self.place = each = what
'''


def test_the_list_of_exceptions_is_exact() -> None:
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    left = tallies()
    grown = {
        name: (stored.get(name, {}), kinds)
        for name, kinds in left.items()
        if name != "classes" and kinds != stored.get(name)
    }
    assert not grown, REWRITE
    assert stored == left, REWRITE


def test_the_names_of_a_module() -> None:
    assert [name for name in names(MODULE) if NAMES.search(name)] == [
        "Found",
        "_held",
        "what",
        "place",
        "each",
    ]
    assert not any(map(NAMES.search, ("placed", "partition", "whole", "teach", "knowledge")))


def test_sentences() -> None:
    assert sum(map(sentences, docstrings(MODULE))) == 3
    assert sum(map(sentences, comments(MODULE))) == 1
    assert sentences("``what is`` here, there is no other, and told apart") == 0
    assert sentences("This is none, and a rule that holds is said to stand") == 4


def test_cython() -> None:
    text = 'cdef int found = 1  # perhaps\n    """What is it."""\n    # told,\n x = "held"\n'
    kinds = list(cython(text))
    assert ("name", "found") in kinds
    assert ("docstring", '"""What is it."""') in kinds
    assert sum(sentences(prose) for kind, prose in kinds if kind == "comment") == 2
    assert ("name", "held") not in kinds


def test_the_tests_of_a_head_exist() -> None:
    missing = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in sources()
        if path.suffix == ".py"
        for name in named_tests(path.read_text(encoding="utf-8"))
        if not (ROOT / name).exists()
    }
    assert not missing
    assert named_tests('"""A head.\n\nTests: tests/a/b.py, c.py,\ntests/d.\n"""') == [
        "tests/a/b.py",
        "tests/a/c.py",
        "tests/d",
    ]
    assert named_tests('"""A head that says: Tests: are not here."""') == []
