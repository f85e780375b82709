"""The yardstick: code lines of each folder and of each feature, for the tables in core/README.md.

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

FEATURE_HEAD = "| feature | files | code lines |\n|---|---:|---:|\n"

FEATURES = {
    "KBNF: tree, reader, layout, explanations": "kbnf frontend",
    "conversion between languages": "conversion convert languages",
    "JSON Schema": "languages/json_schema",
    "Lark": "languages/lark",
    "GBNF": "languages/gbnf",
    "ABNF and BNF": "languages/abnf languages/bnf",
    "ANTLR, EBNF, tree-sitter": "languages/antlr languages/ebnf languages/tree_sitter",
    "structural tags and formats of calls": "languages/structural_tag",
    "lists of tools": "languages/tools",
    "response templates": "languages/response_template",
    "automata and regular expressions": "automata",
    "from rules to tables": "ir lower",
    "recogniser and masks": "kernel recognise mask engine batch",
    "vocabularies": "vocab",
    "trees, values and messages of texts": "parse",
    "repair": "repair",
    "differences of grammars": "diff",
    "lints": "lint",
    "findings: catalogue, output, fixes": "text/diagnostics",
    "examples and random texts": "examples",
    "artifacts and stores": "artifact store compiled farm container container_layout",
    "compiling for servers": "compiler processes",
    "adapters of programs that generate text": "integrations compat",
    "masks on a device": "device",
    "asking other engines": "targets",
    "effects on a model (trace)": "trace",
    "limits, files, errors": "text",
    "the package itself": "__init__ __main__ config grammar shipped version",
    "commands": "kbnf_cli",
    "console (play)": "kbnf_cli/play",
    "playground (web)": "kbnf_cli/web",
    "language server": "kbnf_cli/lsp",
}
"""The features, each with its folders and modules; the longest name that fits a file decides."""

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


def feature_of(path: Path) -> str:
    """Return the feature that a file belongs to. Raises ``ValueError`` for a file without one."""
    file = path.relative_to(TOPS[0] if path.is_relative_to(TOPS[0]) else ROOT).with_suffix("")
    names = [name.as_posix() for name in (file, *file.parents)]
    fitting = [
        (names.index(one), key)
        for key, value in FEATURES.items()
        for one in value.split()
        if one in names
    ]
    return min(fitting)[1]


def rows(files: Counter[str], lines: Counter[str]) -> str:
    """Return the rows of a table, in the order of its names."""
    return "".join(f"| {name} | {files[name]} | {lines[name]:,} |\n" for name in files)


def table() -> str:
    """Return the tables of all folders and of all features, and a sentence on functions."""
    files, lines, lengths = Counter[str](), Counter[str](), list[int]()
    feature_files, feature_lines = Counter(dict.fromkeys(FEATURES, 0)), Counter[str]()
    for top in TOPS:
        for path in top.rglob("*"):
            if path.suffix not in (".py", ".pyx", ".pxi"):
                continue
            text = path.read_text(encoding="utf-8")
            is_python = path.suffix == ".py"
            folder = f"`{path.parent.relative_to(top.parent).as_posix()}/`"
            files[folder] += 1
            lines[folder] += code_lines(text, is_python)
            feature_files[feature_of(path)] += 1
            feature_lines[feature_of(path)] += code_lines(text, is_python)
            lengths += function_lengths(text) if is_python else ()
    short = sum(length <= _SHORT for length in lengths)
    total = f"| in all | {files.total()} | {lines.total():,} |\n"
    folders = Counter({folder: files[folder] for folder in sorted(files)})
    return (
        f"{HEAD}{rows(folders, lines)}{total}\n"
        f"{FEATURE_HEAD}{rows(feature_files, feature_lines)}{total}\n"
        f"Of {len(lengths):,} functions in Python"
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
