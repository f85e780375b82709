"""JSON Schema to rules of the IR, and to KBNF that people read.

```
read      language: JSON Schema among the grammar languages <-- python_types: types of pydantic
              |
          parse: a schema's text, its options, rules and answers to later questions
              |
document  document: pointers, `$ref`, files <--> keywords: the forms of values, in one visit
              |
algebra   schemas: schemas to expressions, and to normal forms <-- type_keywords: by type, formats
              |
          algebra: expressions, parts by type --> value_sets: sets of strings and of numbers
              |
write     writer: expressions to rules --> counts: counted members and items, by automata
              |                        --> scalars: strings and numbers
          rules: one set of rules, what all schemas share, in JSON and in YAML (by column)
              |                                        |
          run: parse, lower               for people: readable (Outline, Expressions)

advice    lints of schemas, rules of hosted services: on no way of a request
```

An expression names a position of the document or combines others; a normal form is a union of parts
by type (``algebra``), of strings and numbers as sets (``value_sets``). Most objects need no normal
form: the writer writes members as they are read. What people read is a view of the rules that run.
Tags, tools, targets and Lark's ``%json`` ask the ``Document``. Everything that a grammar cannot
keep is a problem with the JSON Pointer of its keyword (``keywords``). Lengths of words, and JSON's
spellings of strings, know nothing of schemas: they are in ``automata`` (``lengths``,
``json_strings``).

The options of a conversion are here, with named bounds on what a schema can make large
(``SchemaLimits``).

Tests: tests/unit/languages/json_schema
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, get_type_hints

from kbnf_core.text.errors import ConfigError
from kbnf_core.text.limits import DEFAULT_LIMITS

__all__ = [
    "VALIDATOR", "Digits", "Escapes", "Formats", "Integers", "Options", "Order", "SchemaLimits",
    "Service", "Standard", "Syntax", "Whitespace", "schema_options",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class SchemaLimits:
    """Bounds on a conversion.

    ``depth``: schemas nested in the schema's text, each of which may be two values deep in the one
    around it. ``applied``: schemas that apply to one place of
    a text, one inside the other (``$ref``, ``allOf``, ``anyOf``, ...). ``alternatives``: kinds of
    arrays or of objects that one place tells apart. ``overlaps``: combinations of patterns that
    share names, and other schemas that one of ``oneOf`` shares values with. ``rules``: rules of
    the grammar. ``steps``: states of a counted object or array. ``distinct``: values that
    ``uniqueItems`` keeps apart. ``orders``: properties of an
    object that may occur in any order. ``bound``: the
    largest count of items or members, those of one ``properties`` too; ``length``: that of
    characters (``maxLength``). ``states``: states that the values of one ``enum`` take. ``tools``:
    those of a list. ``work``: counted steps of the conversion.
    """

    depth: int = 64
    applied: int = 48
    alternatives: int = 64
    overlaps: int = 64
    rules: int = 20_000
    steps: int = 4_000
    distinct: int = 10
    orders: int = 8
    bound: int = 65_535
    length: int = 2**31 - 1
    states: int = DEFAULT_LIMITS.grammar_states
    tools: int = 4_000
    work: int = DEFAULT_LIMITS.work


class Whitespace(enum.Enum):
    """Which whitespace a JSON text may have between its tokens."""

    PRINTED = "printed"
    """As printers write it: nothing before a colon or a comma, at most one blank after a colon, and
    after a comma and next to brackets nothing, one blank, or one line break with indentation."""
    COMPACT = "compact"
    """None."""
    BOUNDED = "bounded"
    """In every gap one blank, or one line break and an indentation of up to 64."""
    FLEXIBLE = "flexible"
    """Any run of blanks, tabs and line breaks, as LLGuidance has it."""


class Syntax(enum.Enum):
    """The texts of values: JSON, or block YAML in the one form of ``rules``."""

    JSON = "json"
    YAML = "yaml"


class Integers(enum.Enum):
    """How integers are spelt: without a fraction, or also with ``.0``."""

    PLAIN = "plain"
    FRACTION = "fraction"


class Digits(enum.Enum):
    """How many digits a number may have.

    BOUNDED: integers of 64 bits, 17 after the point, exponents with which a double is finite, or as
    many as the bounds and ``multipleOf`` of a schema ask for. ANY: any number of them.
    """

    BOUNDED = "bounded"
    ANY = "any"


class Order(enum.Enum):
    """In which order the properties of an object come."""

    DECLARED = "declared"
    ANY = "any"


class Escapes(enum.Enum):
    r"""How characters of strings may be spelt.

    CANONICAL leaves no choice: an escape only where JSON needs one, the short one if there is
    one. UNICODE adds ``\uXXXX`` for every character in strings without restrictions, ANY adds
    ``\/`` and halves of surrogate pairs to that.
    """

    CANONICAL = "canonical"
    UNICODE = "unicode"
    ANY = "any"


class Service(enum.Enum):
    """A hosted service with a strict mode."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    COHERE = "cohere"
    MISTRAL = "mistral"


class Standard(enum.Enum):
    r"""The reader of schemas whose meaning of the keywords applies.

    JSON_SCHEMA is the draft that the schema names: before draft 2019-09 whatever is beside
    ``$ref`` is ignored, ``1.0`` is an integer from draft 6 on. LLGUIDANCE is that library's
    reading, which ``%json`` in Lark has: integers have no fraction, 29 February is in every year,
    control characters may be spelt ``\u00XX``, additional names ``\uXXXX``, gaps are any
    whitespace, and numbers have any number of digits.
    """

    JSON_SCHEMA = "json-schema"
    LLGUIDANCE = "llguidance"


class Formats(enum.Enum):
    """How ``format`` restricts strings.

    PLAIN: to what programs that read the format accept, in its usual spelling. RFC: to all that the
    RFCs allow, leap seconds for one. ANNOTATION: not at all.
    """

    PLAIN = "plain"
    RFC = "rfc"
    ANNOTATION = "annotation"


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of a conversion.

    A field that is None comes from the ``x-guidance`` of the schema, or else from ``standard``;
    ``guidance`` has the defaults. ``closed`` says whether objects that name ``properties``, and say
    nothing of other members, have no others. With ``lossy`` a keyword that cannot be honoured is
    dropped and reported instead of being an error; ``lenient`` asks for the same, and is
    LLGuidance's word. ``whitespace_pattern``, ``item_separator`` and ``key_separator`` are regular
    expressions: of one gap, of the text between members and of that after names.
    ``allowed_escapes`` are the letters that may follow a backslash. With ``strict`` the schema must
    be one that the strict mode of a service takes; the grammar is the same. ``syntax`` is that of
    the texts: YAML has one layout, so that options of JSON's layout, spelling and ``standard`` are
    refused beside it.
    """

    whitespace: Whitespace | None = None
    order: Order = Order.DECLARED
    closed: bool | None = None
    integers: Integers | None = None
    digits: Digits | None = None
    escapes: Escapes | None = None
    lossy: bool = False
    limits: SchemaLimits = field(default_factory=SchemaLimits)
    standard: Standard = Standard.JSON_SCHEMA
    formats: Formats | None = None
    whitespace_pattern: str | None = None
    item_separator: str | None = None
    key_separator: str | None = None
    allowed_escapes: str | None = None
    coerce_one_of: bool | None = None
    lenient: bool | None = None
    strict: Service | None = None
    syntax: Syntax = Syntax.JSON


VALIDATOR = Options(integers=Integers.FRACTION, digits=Digits.ANY, formats=Formats.RFC)
"""What a validator accepts, rather than what a model should write: for tests of exactness."""

_CHOICES: dict[str, type[enum.Enum]] = {
    "whitespace": Whitespace,
    "order": Order,
    "escapes": Escapes,
    "standard": Standard,
    "integers": Integers,
    "digits": Digits,
    "formats": Formats,
    "strict": Service,
    "syntax": Syntax,
}

_TYPES: dict[str, Any] = get_type_hints(Options)


def as_mapping(options: Options | None) -> dict[str, Any]:
    """Return options that are not the default by their names as a language's."""
    options = options or Options()
    usual = Options()
    values = {option.name: getattr(options, option.name) for option in fields(Options)}
    named = {name: value for name, value in values.items() if value != getattr(usual, name)}
    if "limits" in named:
        named["schema_limits"] = named.pop("limits")
    return named


ALIASES: dict[str, dict[str, str]] = {"formats": {"assertion": "rfc"}}
"""Other words for the values of options."""


def schema_options(**wanted: Any) -> Options:
    """Return options of which choices may be given by their words. Raises ConfigError."""
    for name, value in wanted.items():
        if name not in _TYPES:
            listed = ", ".join(sorted(_TYPES))
            raise ConfigError(f"there is no option `{name}` for schemas; there are {listed}")
        if name in _CHOICES and isinstance(value, str):
            wanted[name] = _choice(name, value)
        elif not isinstance(value, _TYPES[name]):
            raise ConfigError(f"`{name}` must be {_wanted(name)}, not {value!r}"[:200])
    options = Options(**wanted)
    strange = [name for name in _OF_JSON if wanted.get(name) not in (None, Standard.JSON_SCHEMA)]
    if strange and options.syntax is not Syntax.JSON:
        raise ConfigError(f"`{strange[0]}` is an option of JSON, and the syntax is another")
    return options


_OF_JSON = (
    "whitespace", "whitespace_pattern", "item_separator", "key_separator", "escapes",
    "allowed_escapes", "standard",
)  # fmt: skip
"""Options that other syntaxes have not."""


def _choice(name: str, value: str) -> enum.Enum:
    try:
        return _CHOICES[name](ALIASES.get(name, {}).get(value, value))
    except ValueError:
        raise ConfigError(f"`{name}` must be {_wanted(name)}, not {value!r}") from None


def _wanted(name: str) -> str:
    """Return what an option may be, in words."""
    if name in _CHOICES:
        return "one of " + ", ".join(repr(choice.value) for choice in _CHOICES[name])
    if name == "limits":
        return "a SchemaLimits"
    return "a text" if isinstance("", _TYPES[name]) else "true or false"


LIMITS = "schema_limits"
"""The option with the limits of a schema; ``limits`` are those of the grammar."""


def closed_unless_open(options: Options) -> Options:
    """Return the options of the arguments of calls: objects are closed by default."""
    return replace(options, closed=True) if options.closed is None else options


def options_of(options: Mapping[str, Any]) -> Options:
    """Return the options of a request. Raises ``ConfigError`` for an unknown one."""
    own = {"limits" if name == LIMITS else name: value for name, value in options.items()}
    return schema_options(**own)
