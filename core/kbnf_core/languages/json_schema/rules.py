"""The rules that a document's schemas become, by name, and the schema that is written just now.

What is refused or left out is reported of that schema: of the one whose rule is written
(``current``), or of the value in it that was met last (``inner``). Nothing here refers to the
writers, which refer to this: so all of them go when the last one is forgotten.

Tests: tests/unit/languages/json_schema/test_places.py
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kbnf_core.ir import Node, Notation, calls
from kbnf_core.languages.json_schema.document import Place
from kbnf_core.languages.json_schema.expressions import ANYTHING, Expression, Ref
from kbnf_core.languages.json_schema.names import Names
from kbnf_core.languages.json_schema.prelude import NAMES
from kbnf_core.languages.json_schema.problems import Problem, too_large
from kbnf_core.languages.json_schema.schemas import Schemas


@dataclass(slots=True, eq=False, repr=False)
class Property(Notation):
    """A named member of an object, a sequence whose last part is the value.

    ``schema`` is that of the value, or the schema of the object that has it in ``properties``.
    """

    name: str
    schema: Expression | Place


@dataclass(slots=True, eq=False, repr=False)
class Value(Notation):
    """A value that is written where it is in another one, and its schema."""

    schema: Ref


class Rules(dict[str, Node]):
    """The rules of the schemas of one document; all names begin with ``prefix``.

    ``owner`` is the schema that rules are added for.
    """

    def __init__(self, schemas: Schemas, prefix: str, start: str) -> None:
        super().__init__()
        self.schemas = schemas
        self.budget = schemas.budget
        self.owners: dict[str, Expression] = {}
        self.owner: Expression = ANYTHING
        self.current: Expression = ANYTHING
        self.inner: Ref | None = None
        self._most = schemas.limits.rules
        self._names = Names(prefix, NAMES | {start})

    def fresh(self, hint: str) -> str:
        """Return a name like ``hint`` that no rule has."""
        return self._names.fresh(hint)

    def add(self, name: str, node: Node) -> None:
        """Add or replace a rule. Raises ProblemError beyond the limit of rules."""
        self[name] = node
        self.owners[name] = self.owner
        if len(self) > self._most:
            raise too_large("rules", self._most, "rules", self.pointer())

    def write(self, expression: Expression) -> None:
        """Go on with the rule of another schema."""
        self.current = self.owner = expression
        self.inner = expression if isinstance(expression, Ref) else None

    def pointer(self, keyword: str = "") -> str:
        """Return the JSON Pointer of the schema being written, or of a keyword of it."""
        return self._pointer_in(self.current, keyword)

    def inner_pointer(self, keyword: str = "") -> str:
        """Return the JSON Pointer of the value being written, or of a keyword of its schema."""
        if self.inner is None:
            return self.pointer(keyword)
        place = self.schemas.document.place(self.inner)
        return place.pointer + (f"/{keyword}" if keyword and keyword in place.contents else "")

    def note(self, problem: Problem) -> None:
        """Note what is reported of a keyword, its pointer, of the value being written."""
        placed = problem._replace(pointer=self.inner_pointer(problem.pointer))
        self.schemas.notes.append(placed)

    def pointers_of(self, names: Iterable[str], rules: Mapping[str, Node]) -> dict[str, str]:
        """Return the JSON Pointers of rules: of the schema of each, or of the first that calls it.

        ``rules`` are the meanings of all.
        """
        callers: dict[str, str] = {}
        for rule, body in rules.items():
            for each in calls(body):
                callers.setdefault(each.nonterminal, rule)
        found: dict[str, str] = {}
        for name in names:
            at, way = name, {name: None}
            while at not in self.owners and at not in found and callers.get(at, at) not in way:
                at = callers[at]
                way[at] = None
            known = found[at] if at in found else self._pointer_in(self.owners.get(at, ANYTHING))
            found.update(dict.fromkeys(way, known))
        return found

    def _pointer_in(self, expression: Expression, keyword: str = "") -> str:
        inner = [expression, *getattr(expression, "parts", ())]
        places = [self.schemas.document.place(e) for e in inner if isinstance(e, Ref)]
        for place in places:
            if keyword and keyword in place.contents:
                return f"{place.pointer}/{keyword}"
        return places[0].pointer if places else ""
