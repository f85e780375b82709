"""The invariants of core/README.md that a program can check."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

CORE = Path(__file__).resolve().parents[2] / "core" / "kbnf_core"

BASE = {
    "source",
    "version",
    "diagnostics",
    "errors",
    "limits",
    "budget",
    "files",
    "imports",
    "collecting",
    "expression",
    "traversal",
}
FRONT = BASE | {"syntax", "automata", "ir", "config", "lower"}
BACK = FRONT | {"frontend", "recognise", "vocab", "mask", "grammar"}

LANGUAGES = {path.parent.name for path in (CORE / "languages").glob("*/__init__.py")}

ALLOWED: dict[str, set[str]] = {
    "__init__": {*BACK, "engine", "batch", "compiler", "lint", "artifact"},
    "source": set(),
    "version": set(),
    "traversal": set(),
    "collecting": set(),
    "expression": {"traversal"},
    "diagnostics": {"source", "limits", "version"},
    "errors": {"diagnostics"},
    "limits": set(),
    "budget": {"errors"},
    "files": {"errors"},
    "imports": {"diagnostics", "errors", "files", "limits"},
    "kernel": {"errors"},
    "container": {"errors", "files"},
    "config": {"errors", "limits"},
    "syntax": BASE | {"config"},
    "automata": BASE,
    "ir": BASE | {"automata"},
    "lower": BASE | {"syntax", "automata", "ir"},
    "vocab": BASE | {"container"},
    "recognise": {"ir", "source", "budget", "automata", "kernel", "lower"},
    "mask": BASE | {"kernel", "config", "ir", "lower", "recognise", "vocab"},
    # Reading a grammar knows the values of languages, and of KBNF only where it is found.
    "languages.kbnf": BASE | {"config", "syntax"},
    "frontend": FRONT | {"languages.kbnf"},
    # The face of the converters, and the store, are looked up when they are asked for.
    "grammar": {*BACK, "convert", "store"} - {"grammar"},
    "languages.conversion": BACK | {"kernel", "languages.kbnf"},
    "languages.gbnf": BACK | {"languages.conversion", "languages.kbnf"},
    "languages.bnf": BACK | {"engine", "languages.conversion", "languages.kbnf"},
    "languages.abnf": BACK | {"languages.conversion", "languages.kbnf"},
    "languages.json_schema": BACK | {"format", "languages.conversion", "languages.kbnf"},
    "languages.lark": {
        "format",
        *BACK,
        *(f"languages.{each}" for each in ("conversion", "kbnf", "gbnf", "json_schema")),
    },
    "languages.structural_tag": {
        *BACK,
        *(f"languages.{each}" for each in ("conversion", "kbnf", "gbnf", "json_schema")),
    },
    # The list of languages, above them all.
    "languages": {"syntax", *(f"languages.{language}" for language in LANGUAGES)},
    "convert": BASE
    | {"syntax", "languages", "vocab"}
    | {f"languages.{language}" for language in LANGUAGES},
    "format": BASE | {"syntax", "languages.kbnf"},
    "diagram": BASE | {"syntax"},
    "diff": BACK | {"languages.json_schema"},
    "lint": BACK
    | {"kernel"}
    | {f"languages{each}" for each in ("", ".bnf", ".conversion", ".kbnf", ".lark")},
    "examples": BACK | {"engine", "languages.kbnf", "recordings"},
    "engine": BACK | {"kernel", "artifact"},
    "batch": BACK | {"engine", "kernel"},
    "compat": BACK | {"engine"},
    "compiler": BACK | {"convert", "languages.json_schema"},
    "integrations": BACK | {"batch", "compiler", "convert", "device", "engine"},
    "artifact": BACK | {"container"},
    "device": BACK | {"artifact", "container", "engine", "kernel"},
    "store": BACK | {"artifact", "container", "convert"},
    "recordings": {"engine", "errors", "mask", "vocab"},
}


def modules() -> list[Path]:
    return sorted(CORE.rglob("*.py"))


def part_of(module: str) -> str:
    """Return the room of a module: each language is one."""
    first, _, rest = module.partition(".")
    language = rest.partition(".")[0]
    return f"{first}.{language}" if first == "languages" and language in LANGUAGES else first


NAMED = re.compile(r"(kbnf_core(?:\.\w+)+)\.?(?::\w+)?")
"""A module that a string names, for ``import_module`` to import; the end may be put together."""


def imported(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports or names in strings."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            if node.module == "kbnf_core":
                yield from (f"kbnf_core.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = NAMED.fullmatch(node.value)
            if named is not None:
                yield named[1]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(CORE)))
def test_imports_run_one_way(path: Path) -> None:
    part = part_of(".".join(path.relative_to(CORE).with_suffix("").parts))
    used = {
        part_of(name.removeprefix("kbnf_core."))
        for name in imported(path)
        if name.startswith("kbnf_core.")
    } - {part}
    assert used <= ALLOWED[part], f"{part} must not know {sorted(used - ALLOWED[part])}"


def test_rooms_form_no_circle() -> None:
    others = {part: known - {part} for part, known in ALLOWED.items()}
    # The edges up: `Grammar.from_lark` and its like look up what they need when called.
    others["grammar"] -= {"convert", "store"}
    assert set(TopologicalSorter(others).static_order()) == set(ALLOWED)


ROW = re.compile(r"^\| (`.*?) \| .* \| (.*?) \|$", re.M)
"""A row of the map's table: the parts it is about, and what they know."""


def test_the_map_names_every_part_and_what_it_knows() -> None:
    text = (CORE.parent / "README.md").read_text(encoding="utf-8")
    rooms = {part.partition(".")[0] for part in ALLOWED} - {"__init__"}
    named = set()
    for parts, knows in ROW.findall(text):
        cells = re.findall(r"`(\w+)(?:/|\.py|/__init__\.py)", parts)
        named |= set(cells)
        known = set(re.findall(r"[\w.]+", knows.replace("/", "."))) & {*ALLOWED, *rooms}
        of_cells = [each for part, each in ALLOWED.items() if part.partition(".")[0] in cells]
        allowed = set().union(*of_cells, cells)
        assert known <= allowed, f"{parts} may not know {sorted(known - allowed)}"
    assert named == rooms


def test_a_module_named_in_a_string_counts_as_imported(tmp_path: Path) -> None:
    file = tmp_path / "lazy.py"
    file.write_text(
        'NAME = "a"\nA = "kbnf_core.languages.lark.check:parse"\nB = f"kbnf_core.kernel.{NAME}"\n'
        'C = "kbnf_core is a package."\n',
        encoding="utf-8",
    )
    assert list(imported(file)) == ["kbnf_core.languages.lark.check", "kbnf_core.kernel"]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(CORE)))
def test_core_neither_prints_nor_knows_the_terminal(path: Path) -> None:
    names = {name.split(".")[0] for name in imported(path)}
    assert not names & {"click", "rich", "kbnf_cli"}
    calls = [
        n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Call)
    ]
    printing = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "print"]
    is_script = '__name__ == "__main__"' in path.read_text(encoding="utf-8")
    assert is_script or not printing


def test_rich_is_imported_in_one_file_of_the_command_line() -> None:
    cli = CORE.parents[1] / "kbnf_cli"
    users = [
        path.name
        for path in sorted(cli.rglob("*.py"))
        if "rich" in {n.split(".")[0] for n in imported(path)}
    ]
    assert users == ["console.py"]


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = {"numpy", "lark", "regex", "rich", "click"}
    program = f"import sys, kbnf_core; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_checking_a_small_grammar_needs_no_arrays(tmp_path: Path) -> None:
    file = tmp_path / "small.kbnf"
    file.write_text("start ::= 'é' | #'[a-z]+' (',' start)?;\n", encoding="utf-8")
    program = (
        "import sys; from kbnf_cli.main import main; status = main(['check', sys.argv[1]]);"
        " print(status, sorted({'numpy', 'rich', 'difflib'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "0 []"
