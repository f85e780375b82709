"""The yardstick: code lines, files and short functions a folder, for the table in core/README.md.

A code line is no blank, comment or docstring line; in Cython, a line that is neither blank nor
begins with ``#``. A short function has five lines or fewer, its docstring not counted.
``PYTHONPATH=tests/support python -m kbnf_testing.code_lines`` writes the table anew.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
README = ROOT / "core" / "README.md"
TOPS = (ROOT / "core" / "kbnf_core", ROOT / "kbnf_cli")

HEAD = "| folder | files | code lines |\n|---|---:|---:|\n"

_SHORT = 5


@lru_cache(maxsize=1)
def _nodes(text: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(text)))


def code_lines(text: str, is_python: bool) -> int:
    """Return how many lines of a file are code."""
    prose = set[int]()
    for node in _nodes(text) if is_python else ():
        if isinstance(node, ast.Expr) and _is_text(node):
            prose.update(range(node.lineno, _end(node) + 1))
    numbered = enumerate(map(str.strip, text.splitlines()), 1)
    return sum(bool(line) and line[0] != "#" and number not in prose for number, line in numbered)


def function_lengths(text: str) -> Iterator[int]:
    """Yield the lines of each function, without its docstring."""
    for node in _nodes(text):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            prose = _end(first) - first.lineno + 1 if _is_text(first) else 0
            yield _end(node) - node.lineno + 1 - prose


def table() -> str:
    """Return the table of all folders with their own files, and a sentence on functions."""
    files, lines, lengths = Counter[str](), Counter[str](), list[int]()
    for top in TOPS:
        for path in top.rglob("*"):
            if path.suffix not in (".py", ".pyx", ".pxi"):
                continue
            text = path.read_text(encoding="utf-8")
            is_python = path.suffix == ".py"
            folder = path.parent.relative_to(top.parent).as_posix()
            files[folder] += 1
            lines[folder] += code_lines(text, is_python)
            lengths += function_lengths(text) if is_python else ()
    rows = [f"| `{folder}/` | {files[folder]} | {lines[folder]:,} |" for folder in sorted(files)]
    rows.append(f"| in all | {files.total()} | {lines.total():,} |")
    short = sum(length <= _SHORT for length in lengths)
    return (
        HEAD + "\n".join(rows) + f"\n\nOf {len(lengths):,} functions in Python"
        f" {100 * short / len(lengths):.0f} % have five lines or fewer.\n"
    )


def with_table(readme: str) -> str:
    """Return the map with the table as it should be."""
    before, after = readme.split(HEAD)
    return before + table() + after.partition("or fewer.\n")[2]


def _is_text(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
