"""The schemas of a tool's arguments, as styles of XML read them: one kind of value after the other.

A style writes strings, objects and other values differently. So references are followed, and
alternatives taken apart, until each schema is one of a kind.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kbnf_core.languages.json_schema.document import escape, refuse_deep
from kbnf_core.languages.json_schema.expressions import constant
from kbnf_core.languages.json_schema.formats import formats_of
from kbnf_core.languages.json_schema.options import Formats, Options
from kbnf_core.languages.json_schema.parse import checked, helps_of
from kbnf_core.languages.json_schema.problems import Problem, ProblemError
from kbnf_core.languages.structural_tag.read import UNSUPPORTED, Report

MOST_CASES = 1_000
OF_OBJECTS = frozenset({"type", "properties", "required", "additionalProperties"})
"""Keywords of objects that are read."""

NO_CONSTRAINTS = frozenset(
    {
        "$defs", "definitions", "title", "description", "$schema", "$id", "default", "examples",
        "$comment",
    }
)  # fmt: skip


def is_sound(schema: Any, pointer: str, report: Report, options: Options) -> bool:
    """Report what is wrong with the form of a schema; return whether there is nothing."""
    if report.sound.get(id(schema)) is schema:
        return True
    problems: Sequence[Problem] = ()
    try:
        refuse_deep(schema, options.limits.depth)
        checked(schema, constant(schema).text, options)
    except ProblemError as error:
        problems = error.problems
    for problem in problems:
        report_problem(report, problem, pointer)
    if not problems:
        report.sound[id(schema)] = schema
    return not problems


def report_problem(report: Report, problem: Problem, pointer: str) -> None:
    """Report a problem of the schema at ``pointer``."""
    report.error(pointer + problem.pointer, problem.message, *helps_of(problem), code=problem.code)


class Schemas:
    """Takes apart the schemas in ``root``, which is sound, at ``pointer``."""

    def __init__(self, root: Any, pointer: str, report: Report, options: Options) -> None:
        self._root = root
        self._options = replace(options, strict=None)
        self._pointer = pointer
        self._report = report
        self._known = {id(root): True}

    def cases(self, schema: Any, pointer: str) -> list[tuple[Any, str]]:
        """Return the schemas one of which a value has, without recursion, with their pointers."""
        waiting = [(schema, pointer)]
        found = []
        for step, (each, where) in enumerate(waiting):
            if step > MOST_CASES:
                self._report.error(pointer, "too many alternatives", code=UNSUPPORTED)
                return []
            inner = list(self._inside(each, where))
            waiting += inner
            if not inner:
                found.append((each, where))
        return found

    def followed(self, reference: Any, pointer: str) -> tuple[Any, str]:
        """Return the schema that a reference to this document leads to, ``False`` for none."""
        found = self._root
        if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
            for step in reference[2:].split("/") if reference != "#" else ():
                name = step.replace("~1", "/").replace("~0", "~")
                found = found.get(name) if isinstance(found, dict) else None
            if isinstance(found, dict | bool):
                where = f"{self._pointer}{reference[1:]}"
                # A reference may lead to what the meta-schema takes for a plain value.
                if id(found) not in self._known:
                    self._known[id(found)] = is_sound(found, where, self._report, self._options)
                return (found, where) if self._known[id(found)] else (False, where)
        self._report.error(pointer, f"`{reference}` leads nowhere in this schema", code="E805")
        return False, pointer

    def members(
        self, schema: dict[str, Any], pointer: str
    ) -> tuple[dict[str, tuple[Any, str]], frozenset[str]]:
        """Return the properties of an object, and the names of those that must be there."""
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        for name in required:
            if name not in properties:
                where = f"{pointer}/required"
                message = f"`{name}` is required and no property"
                self._report.error(where, message, code=UNSUPPORTED)
        found = {
            name: (each, f"{pointer}/properties/{escape(name)}")
            for name, each in properties.items()
        }
        return found, frozenset(required)

    def refuses(self, schema: dict[str, Any], pointer: str, known: frozenset[str]) -> bool:
        """Report the keywords that are not ``known``; return whether there are any."""
        strange = [name for name in schema if name not in known | NO_CONSTRAINTS]
        for name in strange:
            where = f"{pointer}/{escape(name)}"
            message = f"`{name}` beside arguments in XML is not supported"
            self._report.error(where, message, code=UNSUPPORTED)
        return bool(strange)

    def whole(self, schema: Any) -> Any:
        """Return a schema with the definitions that its references may lead to."""
        if not isinstance(schema, dict) or not isinstance(self._root, dict):
            return schema
        shared = {name: self._root[name] for name in ("$defs", "definitions") if name in self._root}
        return {**shared, **schema}

    def _inside(self, schema: Any, pointer: str) -> Iterator[tuple[Any, str]]:
        """Yield the schemas one of which a value has; nothing where it is a plain one."""
        if not isinstance(schema, dict):
            return
        if "$ref" in schema:
            yield self.followed(schema["$ref"], f"{pointer}/$ref")
        elif isinstance(schema.get("type"), list) and not {"const", "enum"} & schema.keys():
            for each in schema["type"]:
                yield {**schema, "type": each}, f"{pointer}/type"
        else:
            for keyword in ("anyOf", "oneOf", "allOf"):
                parts = schema.get(keyword)
                if isinstance(parts, list) and (keyword != "allOf" or len(parts) == 1):
                    for index, each in enumerate(parts):
                        yield each, f"{pointer}/{keyword}/{index}"
                    return


def constants(schema: Any) -> list[Any] | None:
    """Return the values that a schema lists; None where it lists none."""
    if isinstance(schema, dict) and "const" in schema:
        return [schema["const"]]
    values = schema.get("enum") if isinstance(schema, dict) else None
    return values if isinstance(values, list) and values else None


def is_restricted(schema: Mapping[str, Any], options: Options) -> bool:
    """Return whether a string has a pattern, or a format that says something."""
    name = schema.get("format")
    formats = formats_of(options.standard, options.formats or Formats.PLAIN)
    is_known = isinstance(name, str) and bool(formats.get(name))
    return "pattern" in schema or (is_known and options.formats is not Formats.ANNOTATION)
