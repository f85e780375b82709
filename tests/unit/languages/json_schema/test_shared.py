"""What schemas share is as good as what is made for one: rules of the prelude, types alone."""

import json

import pytest

from kbnf_core import Grammar, ir
from kbnf_core.automata.operations import is_equal
from kbnf_core.kbnf.build import Form, call, definition, of_ir, regex
from kbnf_core.kbnf.printer import print_definition
from kbnf_core.languages.json_schema import Escapes, Options, Standard, Whitespace
from kbnf_core.languages.json_schema.algebra import Ref
from kbnf_core.languages.json_schema.document import SchemaDocument
from kbnf_core.languages.json_schema.parse import guided
from kbnf_core.languages.json_schema.rules import NAMES, Prelude
from kbnf_core.languages.json_schema.schemas import Schemas
from kbnf_core.lower.regular import Regulars
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.source import Span
from kbnf_testing.schemas import json_schema_grammar

HOLD_VALUES = {"value", "object", "array", "member"}


def written_leaf(node: ir.Regular | ir.Call) -> Form:
    if isinstance(node, ir.Call):
        return call(node.nonterminal)
    assert isinstance(node.notation, str)
    return regex(node.notation)


@pytest.mark.parametrize(
    "options",
    [
        Options(),
        Options(standard=Standard.LLGUIDANCE),
        Options(whitespace=Whitespace.COMPACT, escapes=Escapes.ANY),
        Options(whitespace_pattern="[ ]{0,2}", item_separator=" ?,", escapes=Escapes.UNICODE),
    ],
)
def test_the_rules_that_are_kept_mean_what_their_texts_mean(options: Options) -> None:
    prelude = Prelude(guided({}, options), "p_", has_whole_fractions=True)
    for name in sorted(NAMES - {"start", "ws"}):
        prelude.use(name)
    rules = prelude.rules.items()
    written_rules = (definition(f"p_{n}", of_ir(f, written_leaf)) for n, f in rules)
    text = "\n".join(map(print_definition, written_rules))
    written = Regulars(Grammar(text, start="p_value").rules.rules)
    bodies = prelude.bodies()
    assert set(bodies) == set(prelude.rules)
    assert {
        name for name, body in bodies.items() if not isinstance(body, ir.Regular)
    } == HOLD_VALUES
    for name, body in bodies.items():
        if isinstance(body, ir.Regular):
            assert is_equal(body.dfa, written.of(ir.Call(f"p_{name}", Span(0, 0)))), name


def test_the_rules_are_made_once() -> None:
    first, second = (Prelude(guided({}, Options()), "") for _ in range(2))
    assert first.use("value") is second.use("value")
    assert all(body is second.bodies()[name] for name, body in first.bodies().items())
    assert list(first.rules) == list(second.rules)


def test_rules_too_large_for_an_automaton_stay_rules() -> None:
    prelude = Prelude(guided({}, Options(whitespace_pattern=" {900}")), "")
    prelude.use("comma")
    assert isinstance(prelude.bodies()["comma"], ir.Sequence)


@pytest.mark.parametrize(
    "type_", ["null", "boolean", "number", "integer", "string", "array", "object", "any"]
)
@pytest.mark.parametrize("standard", list(Standard))
def test_a_type_alone_is_what_it_is_with_a_keyword_that_is_not_known(
    type_: str, standard: Standard
) -> None:
    shapes = []
    for more in ({"title": "t", "default": 1}, {"x-unknown": 1}):
        options = Options(standard=standard)
        read = SchemaDocument({"type": type_, **more}, options)
        shapes.append(Schemas(read, options).shape(read.root()))
    assert shapes[0] == shapes[1]


def test_a_document_has_one_reference_to_each_schema() -> None:
    read = SchemaDocument({"properties": {"a": {"type": "null"}}}, Options())
    root = read.root()
    assert isinstance(root, Ref)
    subschema = read.subschema(root)
    assert read.inside(subschema, "properties", "a") is read.inside(subschema, "properties", "a")


def test_what_is_lost_in_schemas_with_the_same_contents_is_named_for_each() -> None:
    lost = {"type": "array", "uniqueItems": True, "items": {"type": "string"}}
    schema = {"x-guidance": {"lenient": True}, "properties": {"a": lost, "b": lost}}
    with pytest.raises(GrammarError) as caught:
        json_schema_grammar(json.dumps(schema), Options(standard=Standard.LLGUIDANCE))
    assert len(caught.value.diagnostics) == 2
