"""The shipped grammar of Python against `ast.parse`, over files at hand and changed ones."""

import random
import sysconfig
import warnings
from pathlib import Path

import pytest

from benchmarks.python_grammar import KINDS, Judge, corpus, mutants, reads

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
FILES = 60
MUTANTS = 400


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge.shipped("python")


@pytest.fixture(scope="module")
def texts() -> list[bytes]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folders = [
            LIBRARY / name for name in ("json", "email", "collections", "asyncio", "logging")
        ]
        return [data for _, data in corpus(folders, FILES, random.Random(1)) if data.strip()]


def test_files_of_the_library_are_modules(judge: Judge, texts: list[bytes]) -> None:
    assert len(texts) > 20
    assert [text[:60] for text in texts if not judge.takes(text)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_changed_files_are_judged_as_python_does(
    judge: Judge, texts: list[bytes], kind: str
) -> None:
    short = [text.decode() for text in texts if len(text) < 15_000]
    narrow, wide = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        changed = [each for each in mutants(short, MUTANTS, random.Random(2)) if each.kind == kind]
        for mutant in changed:
            data = mutant.text.encode()
            valid, taken = reads(data) is None, judge.takes(data)
            narrow += [mutant.around] if valid and not taken else []
            wide += [mutant.around] if taken and not valid else []
    assert narrow == []
    assert len(wide) <= 2, wide


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        (b"if a:\n  b\n  c\nd", True),
        (b"if a:\n  b\n c\nd", False),
        (b"if a:\n" + b" " * 64 + b"b\n", True),
        (b"if a:\n" + b" " * 65 + b"b\n", False),
        (b"if a: b\nelse: c", True),
        (b"if a:\n  b\n  else: c", False),
        (b"x = [\n1,\n  2]\ny", True),
        (b"x = 1\n  + 2", False),
        (b"x = 1 \\\n  + 2", True),
        (b"# only\n", True),
        (b"", True),
        (b"notx if y else z", True),
        (b"not(x)if(y)else(z)", True),
        (b"x if yelse z", False),
    ],
)
def test_lines_and_words(judge: Judge, text: bytes, taken: bool) -> None:
    assert judge.takes(text) is taken
