r"""The reported faults of json_repair and jsonrepair: ``python -m benchmarks.repair_suites``.

    python -m benchmarks.repair_suites JSON_REPAIR JSONREPAIR [--open] [--list RESULT]

The folders are checkouts of the two projects, whose tests are the faults that people reported:
``tests/test_parse_*.py`` and ``tests/test_json_repair.py`` of the first, ``src/index.test.ts`` of
the second. A case is a text that is no JSON, and the value that the project's test expects. Tests
of options and of schemas are left out.

Each text is repaired by the schema of the expected value: its names and types, no member is
required; with ``--open`` any other member is allowed, too. A repair is *right* if it has this
value, but for blanks at the end of strings, which json_repair drops. It is *named* if the text was
cut, or an edit is lost, invented or uncertain, otherwise it is *without a word*. A careful caller
sends back what is named: the right ones of these for nothing.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click

from kbnf_core import Grammar
from kbnf_core.repair import Repair
from kbnf_core.text.errors import KbnfError

OPTIONS = {"skip_json_loads", "return_objects", "ensure_ascii"}
"""Arguments of ``repair_json`` that do not change what a text means."""

_STRING = r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\""""
_EXPECT = re.compile(
    rf"jsonrepair\(\s*({_STRING})\s*\)\)\.to(?:Be|Equal)\(\s*({_STRING})", re.DOTALL
)


class Case(NamedTuple):
    """A text, and the value that a project's test expects."""

    project: str
    text: str
    value: Any


def json_repair_cases(folder: Path) -> Iterator[Case]:
    """Yield the cases of json_repair's tests."""
    files = [*sorted((folder / "tests").glob("test_parse_*.py"))]
    for file in [*files, folder / "tests" / "test_json_repair.py"]:
        for function in ast.parse(file.read_text()).body:
            if isinstance(function, ast.FunctionDef):
                yield from _cases_of(function)


def _cases_of(function: ast.FunctionDef) -> Iterator[Case]:
    """Yield the comparisons with a repair, and the pairs of a text and a value."""
    constants: dict[str, ast.expr] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            constants[node.targets[0].id] = node.value
    for node in ast.walk(function):
        pair: list[ast.expr] = []
        match node:
            case ast.Compare(ast.Call(ast.Name("repair_json"), [text], words), [ast.Eq()], [value]):
                pair = [text, value] if {each.arg for each in words} <= OPTIONS else []
            case ast.Call(ast.Name("_assert_object_repairs"), [text, value]):
                pair = [text, value]
            case ast.Tuple([text, value]) | ast.Tuple([text, value, _]):
                pair = [text, value]
        found = [_constant(constants.get(each.id, each) if isinstance(each, ast.Name) else each)
                 for each in pair]  # fmt: skip
        if pair and isinstance(found[0], str) and found[1] not in (None, ""):
            yield from _case("json_repair", found[0], found[1])


def _constant(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def jsonrepair_cases(folder: Path) -> Iterator[Case]:
    """Yield the cases of jsonrepair's tests."""
    source = (folder / "src" / "index.test.ts").read_text()
    for text, value in _EXPECT.findall(source):
        yield from _case("jsonrepair", _javascript(text), _javascript(value))


def _javascript(literal: str) -> str:
    text = str(ast.literal_eval(re.sub(r"\\/", "/", literal)))
    return text.encode("utf-16", "surrogatepass").decode("utf-16")


def _case(project: str, text: str, value: Any) -> Iterator[Case]:
    try:
        expected = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return
    if not value_of(text):
        yield Case(project, text, expected)


def value_of(text: str) -> list[Any]:
    """Return the value of a text as a list of one, empty if it is no JSON."""
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError):
        return []


def schema_of(value: Any, is_open: bool) -> dict[str, Any]:
    """Return the schema of the names and types of a value."""
    if isinstance(value, dict):
        properties = {name: schema_of(each, is_open) for name, each in value.items()}
        return {"type": "object", "properties": properties, "additionalProperties": is_open}
    if isinstance(value, list):
        kinds = [schema_of(each, is_open) for each in value]
        distinct = [each for at, each in enumerate(kinds) if each not in kinds[:at]]
        return {"type": "array"} | ({"items": {"anyOf": distinct}} if distinct else {})
    names = {bool: "boolean", int: "number", float: "number", str: "string", type(None): "null"}
    return {"type": names[type(value)]}


def repaired(case: Case, is_open: bool) -> Repair | None:
    """Return the nearest text, None where it is refused."""
    schema = schema_of(case.value, is_open)
    grammar = Grammar.from_json_schema(schema, whitespace="flexible", order="any")
    try:
        return next(iter(grammar.repair(case.text)), None)
    except KbnfError:
        return None


def judged(case: Case, found: Repair | None) -> str:
    """Return what became of a case."""
    if found is None:
        return "refused"
    is_named = found.status == "cut" or found.lost or found.invented or found.uncertain
    is_right = list(map(trimmed, value_of(found.text))) == [trimmed(case.value)]
    return f"{'right' if is_right else 'wrong'}, {'named' if is_named else 'without a word'}"


def trimmed(value: Any) -> Any:
    """Return a value without blanks at the ends of strings and names, which json_repair drops."""
    if isinstance(value, dict):
        return {name.rstrip(): trimmed(each) for name, each in value.items()}
    if isinstance(value, list):
        return [trimmed(each) for each in value]
    return value.rstrip() if isinstance(value, str) else value


@click.command()
@click.argument("json_repair", type=click.Path(exists=True, path_type=Path))
@click.argument("jsonrepair", type=click.Path(exists=True, path_type=Path))
@click.option("--open", "is_open", is_flag=True, help="Allow any other member.")
@click.option("--list", "lists", multiple=True, help="List such cases: `wrong, named`.")
def main(json_repair: Path, jsonrepair: Path, is_open: bool, lists: tuple[str, ...]) -> None:
    """Repair the texts of the tests of both projects."""
    cases = [*json_repair_cases(json_repair), *jsonrepair_cases(jsonrepair)]
    counts: Counter[tuple[str, str]] = Counter()
    for case in {repr(each): each for each in cases}.values():
        found = repaired(case, is_open)
        result = judged(case, found)
        counts[case.project, result] += 1
        if result in lists:
            print(f"{case.text!r}\n  expected {case.value!r}\n  {found.text if found else None}")
            for edit in found.edits if found else ():
                print("   ", edit.kind, edit.start, edit.before, edit.after, edit.cost)
    for project in sorted({project for project, _ in counts}):
        own = {result: n for (each, result), n in sorted(counts.items()) if each == project}
        total = sum(own.values())
        right = sum(n for result, n in own.items() if result.startswith("right"))
        print(f"{project}: {right} of {total} right ({right / total:.1%}); {own}")


if __name__ == "__main__":
    main()
