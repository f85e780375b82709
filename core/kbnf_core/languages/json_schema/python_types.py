"""JSON Schemas of Python's types in which nothing is lost that a grammar can keep.

The schema that pydantic makes of a type is for documentation: it forgets the schemes of addresses,
the keys of a ``dict[int, str]``, how far a decimal goes, on which side of a bound a date is, and
allows several spellings of one value. ``LosslessSchema`` is pydantic's own generator with these
types written as the reader of the class takes them: one spelling of each value, as far as it is
regular. What only Python code decides (that a file exists, a validator of the class) has a comment
``kbnf: unkept: WHAT``, of which the lints make an info.

Imported where a schema of a type is asked for: pydantic is optional.

Tests: tests/unit/languages/json_schema/test_python_types.py
"""

import datetime as dt
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from importlib import import_module
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from kbnf_core.languages.json_schema import Formats, Standard
from kbnf_core.languages.json_schema.keywords import UNKEPT
from kbnf_core.languages.json_schema.type_keywords import formats_of, plain_address

_INTEGER = "-?(0|[1-9][0-9]{0,17})"
_FINITE = rf"{_INTEGER}(\.[0-9]{{1,15}})?"
_MOST_DIGITS = 28
"""Digits of a decimal beyond which all are allowed, as Python's own contexts have."""
_BLANK = r"\s\x1c-\x1f\x85"
_CLOCK = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?"
_KEYS = {
    "int": {"pattern": f"^{_INTEGER}$"},
    "float": {"pattern": f"^{_FINITE}$"},
    "decimal": {"pattern": f"^{_FINITE}$"},
    "bool": {"enum": ["true", "false"]},
    "none": {"enum": []},
}
"""What the names of members are for keys that are not texts."""


def _base64_of_ascii(alphabet: str) -> str:
    """Return the pattern of Base64 of texts in ASCII, so that the bytes are UTF-8."""

    def where(is_there: Callable[[int], bool]) -> str:
        return "[" + re.escape("".join(c for i, c in enumerate(alphabet) if is_there(i))) + "]"

    first, any_ = where(lambda i: i < 32), where(lambda _: True)
    second, third = where(lambda i: not i & 8), where(lambda i: not i & 2)
    last_two = f"{first}{where(lambda i: not i & 15)}=="
    last_one = f"{first}{second}{where(lambda i: not i & 3)}="
    return f"^({first}{second}{third}{any_})*({last_two}|{last_one})?$"


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def _within(most: int) -> dict[str, Any]:
    return {"type": "number", "minimum": -most, "maximum": most}


_LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_VALIDATORS: dict[str, dict[str, Any] | None] = {
    "ByteSize._validate": {"type": "integer", "minimum": 0},
    "NameEmail._validate": {"type": "string", "format": "email"},
    "MacAddress._validate": {"type": "string", "pattern": "^([0-9a-f]{2}:){5}[0-9a-f]{2}$"},
    "DomainStr.validate": {
        "type": "string", "pattern": rf"^({_LABEL}\.)+[a-z]{{2,63}}$", "maxLength": 253
    },
    "Color._validate": {"type": "string", "pattern": "^#[0-9a-f]{6}$"},
    "ULID._validate_ulid": {"type": "string", "pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"},
    "_Base._validate": {"type": "number", "minimum": 0, "maximum": 253_402_300_799},
    "Latitude.__get_pydantic_json_schema__": _within(90),
    "Longitude.__get_pydantic_json_schema__": _within(180),
    "Coordinate._parse_args": {
        "type": "object",
        "properties": {"latitude": _within(90), "longitude": _within(180)},
        "required": ["latitude", "longitude"],
    },
    "CronStr.validate": {
        "type": "string",
        "pattern": r"^(\*|[1-5]?\d) (\*|1?\d|2[0-3]) (\*|[1-9]|1\d|2[0-8])"
        r" (\*|[1-9]|1[0-2]) (\*|[0-6])$",
    },
    "PathType.validate_file": None,
    "PathType.validate_directory": None,
    "PathType.validate_new": None,
    "import_string": None,
}  # fmt: skip
"""What validators that pydantic has in Python ask for; None where no grammar keeps it."""
_CHECKED = {
    "ISBN._validate": "^(97[89][0-9]{10}|[0-9]{9}[0-9X])$",
    "PaymentCardNumber.validate": "^[0-9]{12,19}$",
    "ABARoutingNumber._validate": "^[0-9]{9}$",
}
"""The digits that validators ask for; the last one is a checksum, which no grammar keeps."""
_LISTED = {
    "CountryAlpha2._validate": "_index_by_alpha2",
    "CountryAlpha3._validate": "_index_by_alpha3",
    "CountryNumericCode._validate": "_index_by_numeric_code",
    "LanguageAlpha2._validate": "_index_by_alpha2",
}
"""Functions beside validators that return a mapping of all codes these accept."""
_OWNERS = ("pydantic.", "pydantic_extra_types.")
"""The modules whose validators are known by their names."""
_THEIRS = ("pydantic.", "pydantic_core.")
"""The modules whose other validators refuse nothing that their schema allows."""
_NO_FORMATS = {"path", "file-path", "directory-path", "binary", "password", "json-string"}
"""What pydantic writes as formats that restrict nothing."""
_BASE64 = {
    "Base64Encoder": _base64_of_ascii(f"{_LETTERS}+/"),
    "Base64UrlEncoder": _base64_of_ascii(f"{_LETTERS}-_"),
}


class LosslessSchema(GenerateJsonSchema):
    """Pydantic's generator of JSON Schemas, for the texts that the type's validator takes."""

    # No warning for a default that is not JSON: the schema is not shown.
    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - as pydantic has it

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        """Write the schema of a type, and what its validators in Python ask for."""
        written = super().generate_inner(schema)
        if written.get("format") in _NO_FORMATS:
            del written["format"]
        function = _validator(schema) or _writer(schema)
        if function is None:
            return written
        name = getattr(function, "__qualname__", type(function).__name__)
        encoder = getattr(getattr(function, "__self__", None), "encoder", None)
        base64 = _BASE64.get(getattr(encoder, "__name__", ""))
        if name == "EncodedStr.decode_str" and base64 is not None:
            return {"type": "string", "pattern": base64}
        module = getattr(function, "__module__", "")
        if module.startswith(_OWNERS) and name in _VALIDATORS:
            validator_schema = _VALIDATORS[name]
            return _unkept(written, name) if validator_schema is None else {**validator_schema}
        if module.startswith(_OWNERS) and name in _CHECKED:
            return _unkept({"type": "string", "pattern": _CHECKED[name]}, name)
        if module.startswith(_OWNERS) and name in _LISTED:
            index = getattr(import_module(module), _LISTED[name], None)
            return _unkept(written, name) if index is None else {"enum": sorted(index())}
        if module.startswith(_THEIRS):
            return written
        return _unkept(written, name)

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """Write a decimal as a number: that is one spelling, and its bounds are kept."""
        bounds = {key: value for key, value in schema.items() if isinstance(value, Decimal | int)}
        number = self.float_schema({**bounds, "type": "float"})  # type: ignore[typeddict-item]
        digits, decimals = schema.get("max_digits"), schema.get("decimal_places")
        if digits is None and decimals is None:
            return number
        whole = _MOST_DIGITS if digits is None else digits
        shapes = range(min(whole, _MOST_DIGITS) + 1) if decimals is None else [decimals]
        choices = [_rounded(whole - fraction, fraction) for fraction in shapes]
        return {"allOf": [number, {"anyOf": choices} if len(choices) > 1 else choices[0]]}

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        """Write a number, with bounds as JSON has them."""
        written = super().float_schema(schema)
        return {key: _plain(value) for key, value in written.items()}

    def fraction_schema(self, schema: Any) -> JsonSchemaValue:
        """Write a fraction as a number."""
        del schema
        return {"type": "number"}

    def complex_schema(self, schema: core_schema.ComplexSchema) -> JsonSchemaValue:
        """Write a complex number as Python does."""
        del schema
        number = r"(0|[1-9][0-9]{0,15})(\.[0-9]{1,15})?"
        return {"type": "string", "pattern": f"^-?({number}([+-]{number}j)?|{number}j)$"}

    def str_schema(self, schema: core_schema.StringSchema) -> JsonSchemaValue:
        """Write a text; one that is stripped has nothing to strip."""
        written = super().str_schema(schema)
        if not schema.get("strip_whitespace"):
            return written
        return {**written, "allOf": [{"pattern": rf"^([^{_BLANK}]([\s\S]*[^{_BLANK}])?)?$"}]}

    def bytes_schema(self, schema: core_schema.BytesSchema) -> JsonSchemaValue:
        """Write bytes; where they are counted they are ASCII, of which a character is one."""
        written = super().bytes_schema(schema)
        if "max_length" in schema:
            written["pattern"] = r"^[\x00-\x7f]*$"
        return written

    def date_schema(self, schema: core_schema.DateSchema) -> JsonSchemaValue:
        """Write a date within its bounds."""
        return {**super().date_schema(schema), **_days(schema, apart=1)}

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        """Write a time on a day within its bounds; a naive one has no offset."""
        written = {**super().datetime_schema(schema), **_days(schema, apart=2)}
        if schema.get("tz_constraint") == "naive":
            del written["format"]
            day = formats_of(Standard.JSON_SCHEMA, Formats.PLAIN)["date"]
            written["pattern"] = f"^(?:{day})T{_CLOCK}$"
        return written

    def time_schema(self, schema: core_schema.TimeSchema) -> JsonSchemaValue:
        """Write a time of a day, whose bounds are not kept."""
        return _within_unkept_bounds(super().time_schema(schema), schema)

    def timedelta_schema(self, schema: core_schema.TimedeltaSchema) -> JsonSchemaValue:
        """Write a duration, whose bounds are not kept."""
        return _within_unkept_bounds(super().timedelta_schema(schema), schema)

    def json_schema(self, schema: core_schema.JsonSchema) -> JsonSchemaValue:
        """Write a text of JSON, whose contents no grammar keeps."""
        del schema
        return _unkept({"type": "string"}, "Json")

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """Write a mapping with the names that its keys are read from."""
        written = super().dict_schema(schema)
        if "patternProperties" in written:
            return {**written, "additionalProperties": False}
        keys = schema.get("keys_schema")
        names = _KEYS.get(str(keys["type"])) if keys else None
        if keys is None or names is None:
            return written
        return _within_unkept_bounds({**written, "propertyNames": names}, keys)

    def set_schema(self, schema: core_schema.SetSchema) -> JsonSchemaValue:
        """Write a set: a text that repeats an item is the same set."""
        return self._repeated(super().set_schema(schema))

    def frozenset_schema(self, schema: core_schema.FrozenSetSchema) -> JsonSchemaValue:
        """Write a frozen set."""
        return self._repeated(super().frozenset_schema(schema))

    def url_schema(self, schema: core_schema.UrlSchema) -> JsonSchemaValue:
        """Write an address with its schemes."""
        return _address(super().url_schema(schema), schema)

    def multi_host_url_schema(self, schema: core_schema.MultiHostUrlSchema) -> JsonSchemaValue:
        """Write an address, of one host, with its schemes."""
        return _address(super().multi_host_url_schema(schema), schema)

    def _repeated(self, written: JsonSchemaValue) -> JsonSchemaValue:
        """Allow repeated items where no grammar keeps them apart; how many differ is not kept."""
        if self._is_listed(written.get("items")):
            return written
        written.pop("uniqueItems", None)
        return _unkept(written, "set (min_length)") if written.get("minItems", 0) > 1 else written

    def _is_listed(self, items: Any) -> bool:
        """Return whether the items of a set are listed, so that a grammar can distinguish them."""
        if isinstance(items, dict) and "$ref" in items:
            items = self.get_schema_from_definitions(items["$ref"])
        if not isinstance(items, dict):
            return False
        return bool(items.keys() & {"enum", "const"}) or items.get("type") in ("boolean", "null")


def _validator(schema: Mapping[str, Any]) -> Any:
    """Return the function of a schema that validates by one, or None."""
    if not str(schema.get("type", "")).startswith("function-"):
        return None
    return schema["function"]["function"]


def _writer(schema: Mapping[str, Any]) -> Any:
    """Return the method by which a class of others writes its JSON Schema itself, or None."""
    functions = schema.get("metadata", {}).get("pydantic_js_functions", ())
    own = (function for function in functions if not function.__module__.startswith(_THEIRS))
    return next(own, None)


def _unkept(written: JsonSchemaValue, check: str) -> JsonSchemaValue:
    return {**written, "$comment": f"{UNKEPT}{check}"}


def _within_unkept_bounds(written: JsonSchemaValue, schema: Any) -> JsonSchemaValue:
    bounds = sorted(schema.keys() & {"gt", "ge", "lt", "le", "multiple_of"})
    return _unkept(written, f"{schema['type']} ({', '.join(bounds)})") if bounds else written


def _plain(value: Any) -> Any:
    """Return a bound as JSON has it."""
    if not isinstance(value, Decimal):
        return value
    return int(value) if value == value.to_integral_value() else float(value)


def _rounded(whole: int, fraction: int) -> dict[str, Any]:
    """Return numbers of so many digits before and after the point."""
    multiple = {"multipleOf": float(f"1e-{fraction}")} if fraction else {"type": "integer"}
    most = 10 ** max(whole, 0)
    return {**multiple, "exclusiveMinimum": -most, "exclusiveMaximum": most}


def _address(written: JsonSchemaValue, schema: Any) -> JsonSchemaValue:
    """Return addresses of some schemes, with a host; a bound is kept by their parts."""
    schemes = schema.get("allowed_schemes")
    if not schemes:
        return {**written, "format": "uri"}
    most = schema.get("max_length")
    others = [re.escape(allowed) for allowed in schemes if allowed != "file"]
    scheme = f"(?:{'|'.join(others)})" if others else "file"
    return {"type": "string", "pattern": f"^(?:{plain_address(scheme, most)})$"}


def _days(schema: Any, *, apart: int) -> dict[str, Any]:
    """Return patterns of the days within the bounds of a date or a time.

    A time is within them, whatever its offset, where its day is two days from the bound.
    """
    today = dt.datetime.now(dt.UTC).date()
    above, below = schema.get("gt", schema.get("ge")), schema.get("lt", schema.get("le"))
    if schema.get("now_op") == "past":
        below = today
    elif schema.get("now_op") == "future":
        above = today
    patterns = []
    for bound, sign in ((above, 1), (below, -1)):
        if bound is not None:
            day = bound.date() if isinstance(bound, dt.datetime) else bound
            limit = (day + dt.timedelta((apart - 1) * sign)).isoformat()
            patterns.append({"pattern": f"^({_beyond(limit, sign)})"})
    return {"allOf": patterns} if patterns else {}


def _beyond(day: str, sign: int) -> str:
    """Return the beginnings of days after one (before one, where ``sign`` is -1)."""
    patterns = []
    for index, digit in enumerate(day):
        others = [
            other_digit
            for other_digit in "0123456789"
            if digit != "-" and (other_digit > digit) == (sign > 0)
        ]
        others = [other_digit for other_digit in others if other_digit != digit]
        if others:
            patterns.append(f"{day[:index]}[{''.join(others)}]")
    return "|".join(patterns)
