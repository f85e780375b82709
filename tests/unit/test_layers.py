"""The invariants of core/README.md that a program can check."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "core" / "kbnf_core"
CLI = ROOT / "kbnf_cli"
INTEGRATIONS = [path.parent for path in sorted((ROOT / "integrations").glob("*/*/__init__.py"))]
"""Packages of their own, for servers and under another engine's name."""

BASE = {"text", "version"}
RULES = {"automata", "ir", "lower"}
READING = {"frontend", "kbnf"}
ENGINE = {"config", "engine", "grammar", "mask", "vocab"}

LANGUAGES = {path.parent.name for path in (CORE / "languages").glob("*/__init__.py")}

ALLOWED: dict[str, set[str]] = {
    "__init__": {
        *ENGINE,
        "artifact",
        "batch",
        "compiled",
        "compiler",
        "lint",
        "parse",
        "repair",
        "text",
        "version",
    },
    "shipped": set(),
    "version": set(),
    "text": {"version"},
    "processes": {"text"},
    "kernel": {"text"},
    "container_layout": {"text"},
    "container": {"container_layout", "text"},
    "config": {"text"},
    "automata": BASE,
    "ir": BASE | {"automata"},
    "vocab": BASE | {"container"},
    # What a reader makes of a text has rules where it has no tree, and may speak of tokens.
    "kbnf": BASE | {"automata", "config", "ir", "vocab"},
    "lower": BASE | {"automata", "ir", "kbnf"},
    "recognise": {"automata", "kernel", "lower", "text"},
    "mask": BASE | {"automata", "config", "ir", "kernel", "lower", "recognise", "vocab"},
    "conversion": BASE | RULES | {"kernel", "recognise", "kbnf"},
    # KBNF is read and printed here; every other language is above.
    "frontend": BASE | {"config", "ir", "conversion", "lower", "kbnf"},
    "languages.abnf": BASE | READING | {"automata", "ir", "conversion"},
    "languages.antlr": BASE | READING | {"automata", "ir", "conversion"},
    "languages.bnf": BASE
    | READING
    | {"automata", "config", "ir", "lower", "mask", "recognise", "vocab"},
    "languages.ebnf": BASE | READING | {"automata", "ir", "conversion", "lower"},
    "languages.gbnf": BASE | READING | RULES | {"conversion", "vocab"},
    "languages.json_schema": BASE | READING | RULES | {"config"},
    "languages.lark": BASE
    | READING
    | RULES
    | {"conversion", "languages.gbnf", "languages.json_schema"},
    "languages.tree_sitter": BASE | READING | {"automata", "ir", "conversion"},
    "languages.structural_tag": BASE
    | READING
    | RULES
    | {"vocab"}
    | {"conversion", "languages.gbnf", "languages.json_schema", "languages.lark"},
    "languages.tools": BASE
    | READING
    | {"ir", "kernel", "lower", "parse", "processes", "recognise"}
    | {f"languages.{each}" for each in ("json_schema", "structural_tag")},
    "languages.response_template": BASE
    | READING
    | {"automata"}
    | {f"languages.{each}" for each in ("json_schema", "structural_tag", "tools")},
    # The list of languages, above them all.
    "languages": BASE | READING | {f"languages.{language}" for language in LANGUAGES},
    "convert": BASE | READING | {"languages", "languages.json_schema", "vocab"},
    "lint": BASE
    | READING
    | RULES
    | {"config", "kernel", "languages", "mask", "recognise", "vocab"}
    | {"conversion", "languages.bnf", "languages.lark"},
    # Artifacts and stores take grammars, and what makes one, as values.
    # Trees of texts; what comes in pieces comes as tokens of a vocabulary. What calls of tools are
    # made of is said by the language that has them.
    "parse": {"text", "ir", "kernel", "kbnf", "languages.structural_tag", "lower", "mask"}
    | {"recognise", "vocab"},
    "repair": {"text", "config", "kernel", "mask", "recognise", "vocab"},
    "artifact": BASE | RULES | {"config", "container", "container_layout", "vocab"},
    "store": BASE
    | {"artifact", "automata", "config", "container", "convert", "frontend", "languages"}
    | {"processes", "vocab"},
    "grammar": BASE
    | READING
    | {"config", "ir", "languages", "lower", "mask", "parse", "repair"}
    | {f"languages.{each}" for each in ("json_schema", "response_template", "structural_tag")}
    | {"artifact", "shipped", "store", "vocab"},
    "compiled": BASE | {"artifact", "grammar", "vocab"},
    "farm": BASE | {"grammar", "processes", "store", "vocab"},
    "engine": BASE | {"config", "grammar", "kernel", "mask", "parse", "recognise", "vocab"},
    "batch": BASE | {"engine", "kernel", "mask"},
    # Other engines run in processes of their own: nothing of them is imported here.
    "targets": BASE
    | {"automata", "convert", "diff", "engine", "grammar", "languages", "languages.json_schema"}
    | {"languages.tools", "processes", "vocab"},
    "trace": {"engine", "text", "vocab"},
    "compat": BASE | {"config", "engine", "mask", "vocab"},
    "compiler": BASE
    | {"config", "frontend", "grammar", "languages", "lower", "mask", "processes", "vocab"},
    "device": BASE | ENGINE | {"artifact", "container", "kernel", "recognise"},
    "integrations": BASE
    | (ENGINE - {"config"})
    | {"batch", "compiler", "device", "parse"}
    | {f"languages.{each}" for each in ("response_template", "structural_tag")},
    "diff": BASE | RULES | {"config", "grammar", "recognise", "kbnf"},
    "examples": BASE | (RULES - {"lower"}) | {"kbnf"} | {"engine", "mask", "parse", "vocab"},
}
"""What each room may know. Beyond ``BASE`` that is what it does know: nothing is left unused."""


@cache
def modules() -> list[Path]:
    return sorted(CORE.rglob("*.py"))


def part_of(module: str) -> str:
    """Return the room of a module: each language is one."""
    first, _, rest = module.partition(".")
    language = rest.partition(".")[0]
    return f"{first}.{language}" if first == "languages" and language in LANGUAGES else first


NAMED = re.compile(r"((?:kbnf_core|kbnf_cli)(?:\.\w+)+)\.?(?::\w+)?")
"""A module that a string names, for ``import_module`` to import; the end may be put together."""


PRINTS = "print()"
"""Stands among the imports of a file that calls it."""


@cache
def read(path: Path) -> tuple[str, ...]:
    """Return the modules that a file imports or names in strings, and whether it prints."""
    return tuple(_read(path))


def _read(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = NAMED.fullmatch(node.value)
            if named is not None:
                yield named[1]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
            yield PRINTS


def imported(path: Path) -> list[str]:
    """Return the modules that a file imports or names in strings."""
    return [each for each in read(path) if each != PRINTS]


def name_of(path: Path) -> str:
    """Return the name of a module by its file."""
    tops = [CORE, CLI, *INTEGRATIONS]
    parts = path.relative_to(next(top.parent for top in tops if path.is_relative_to(top)))
    return ".".join(parts.with_suffix("").parts).removesuffix(".__init__")


def room_of(path: Path) -> str:
    return part_of(".".join(path.relative_to(CORE).with_suffix("").parts))


@cache
def known_to(path: Path) -> frozenset[str]:
    """Return the other rooms that a file of core imports."""
    names = (name for name in imported(path) if name.startswith("kbnf_core."))
    return frozenset(part_of(name.removeprefix("kbnf_core.")) for name in names) - {room_of(path)}


def test_imports_run_one_way() -> None:
    excess = {path: known_to(path) - ALLOWED[room_of(path)] for path in modules()}
    assert {path: rooms for path, rooms in excess.items() if rooms} == {}


def test_no_room_may_know_more_than_it_does() -> None:
    unused = {room: allowed - BASE for room, allowed in ALLOWED.items()}
    for path in modules():
        unused[room_of(path)] -= known_to(path)
    assert not {room: left for room, left in unused.items() if left}


def rows_of(picture: str) -> dict[str, tuple[int, int]]:
    """Return the row of each room in the map's picture of layers, and its column."""
    places: dict[str, tuple[int, int]] = {}
    for line in picture.splitlines():
        for column, half in enumerate(line.split("|")):
            # The number and the name of the row come before its rooms.
            rooms = re.split(r"  +", half.strip())
            places.update({room: (int(line[0]), column) for room in rooms})
    return places


def test_the_picture_of_layers_is_true() -> None:
    readme = (CORE.parent / "README.md").read_text(encoding="utf-8")
    rows = rows_of(readme.partition("## Layers")[2].split("```")[1].strip())
    rooms = {room.partition(".")[0] for room in ALLOWED} - {"__init__"}
    assert rooms <= set(rows)
    above = {
        (room, other)
        for room, others in ALLOWED.items()
        for other in others
        if room != "__init__" and rows[other.partition(".")[0]][0] > rows[room.partition(".")[0]][0]
    }
    assert not above


def test_rooms_form_no_circle() -> None:
    others = {part: known - {part} for part, known in ALLOWED.items()}
    assert set(TopologicalSorter(others).static_order()) == set(ALLOWED)


def imports_of_files() -> dict[str, set[str]]:
    """Return the modules of all packages, each with those that it imports."""
    tops = (CORE, CLI, *INTEGRATIONS)
    paths = {name_of(path): path for top in tops for path in top.rglob("*.py")}
    found: dict[str, set[str]] = {}
    for name, path in paths.items():
        files = (longest_in(paths, module) for module in imported(path))
        found[name] = {file for file in files if file and file != name}
    return found


def longest_in(paths: dict[str, Path], name: str) -> str:
    """Return the module that a name is of, which may be that of something in it; "" for none."""
    while name and name not in paths:
        name = name.rpartition(".")[0]
    return name


def circles_in(imports: dict[str, set[str]]) -> set[frozenset[str]]:
    """Return the sets of modules of which each leads to each."""
    reached: dict[str, set[str]] = {}
    for name in imports:
        seen, left = set[str](), [name]
        while left:
            new = imports[left.pop()] - seen
            seen |= new
            left += new
        reached[name] = seen
    return {
        frozenset(other for other in seen if name in reached[other])
        for name, seen in reached.items()
        if name in seen
    }


def test_files_form_no_circle() -> None:
    assert [sorted(each) for each in circles_in(imports_of_files())] == []


def test_a_circle_is_found() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": set[str]()}
    assert circles_in(imports) == {frozenset("abc")}


ROW = re.compile(r"^\| (`.*?) \| .* \| (.*?) \|$", re.M)
"""A row of the map's table: the parts it is about, and what they know."""


def test_the_map_names_every_part_and_what_it_knows() -> None:
    text = (CORE.parent / "README.md").read_text(encoding="utf-8").partition("## Code lines")[0]
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
    assert imported(file) == ["kbnf_core.languages.lark.check", "kbnf_core.kernel"]


def test_integrations_are_below_nothing_and_know_no_terminal() -> None:
    names = {top.name for top in INTEGRATIONS}
    assert names >= {"kbnf_sglang", "kbnf_vllm"}
    users = {
        path: known
        for top in (CORE, CLI)
        for path in top.rglob("*.py")
        if (known := {n.split(".")[0] for n in imported(path)} & (names - {"kbnf"}))
    }
    assert users == {}
    for top in INTEGRATIONS:
        others = names - {top.name, "kbnf"} | {"kbnf_cli", "click", "rich"}
        for path in top.rglob("*.py"):
            assert {n.split(".")[0] for n in imported(path)}.isdisjoint(others), path


def test_core_neither_prints_nor_knows_the_terminal() -> None:
    terminal = {"click", "rich", "kbnf_cli"}
    knowing = [path for path in modules() if {n.split(".")[0] for n in imported(path)} & terminal]
    printing = [
        path
        for path in modules()
        if PRINTS in read(path) and '__name__ == "__main__"' not in path.read_text("utf-8")
    ]
    assert (knowing, printing) == ([], [])


def test_printing_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "prints.py"
    file.write_text("def f(x):\n    print(x)\n", encoding="utf-8")
    assert read(file) == (PRINTS,)


def test_rich_is_imported_in_one_file_of_the_command_line() -> None:
    users = [
        path.name
        for path in sorted(CLI.rglob("*.py"))
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
