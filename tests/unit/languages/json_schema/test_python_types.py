"""Texts of the grammar of a Python type are what its validator in pydantic takes.

The judge is ``model_validate_json`` of a class with one member of the type.
"""

import datetime as dt
import enum
import fractions
import importlib
import ipaddress
import pathlib
import typing
import uuid
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.examples.sampling import sample_texts
from kbnf_core.languages import JSON_SCHEMA
from kbnf_core.languages.json_schema.language import schema_text
from kbnf_core.lint.check import check
from kbnf_testing.samples import examples

pydantic: Any = pytest.importorskip("pydantic")
pydantic_core: Any = pytest.importorskip("pydantic_core")
typing_extensions: Any = pytest.importorskip("typing_extensions")
Field = pydantic.Field


class _Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class _Point:
    x: int
    link: pydantic.HttpUrl
    y: float = 0.5


_Sizes = typing_extensions.TypedDict("_Sizes", {"w": Decimal, "of": dict[int, str]})


def _named(*names: str) -> list[Any]:
    """Return types of pydantic, by their names."""
    return [pytest.param(getattr(pydantic, name), id=name) for name in names]


TYPES = [
    Decimal, fractions.Fraction, complex, float, int, dt.date, dt.datetime, dt.time, dt.timedelta,
    uuid.UUID, ipaddress.IPv4Network, ipaddress.IPv6Interface, pathlib.Path,
    Annotated[Decimal, Field(max_digits=6)],
    Annotated[Decimal, Field(max_digits=6, decimal_places=2)],
    Annotated[Decimal, Field(gt=0, lt=10)],
    Annotated[dt.datetime, Field(gt=dt.datetime(2020, 1, 1))],
    Annotated[dt.date, Field(ge=dt.date(1999, 12, 31), le=dt.date(2000, 1, 2))],
    Annotated[str, pydantic.StringConstraints(strip_whitespace=True, to_lower=True, min_length=2)],
    Annotated[bytes, Field(min_length=1, max_length=4)],
    dict[int, str], dict[float, int], dict[bool, int], dict[dt.date, int], dict[_Color, int],
    dict[Decimal, int], dict[Annotated[str, Field(pattern="^x")], int], set[int], frozenset[_Color],
    typing.Sequence[Decimal],
    pydantic.Base64Str, pydantic.Base64UrlStr, pydantic.UUID4,
    _Point, _Sizes,
    *_named(
        "PastDate", "FutureDate", "AwareDatetime", "NaiveDatetime", "PastDatetime",
        "FutureDatetime", "AnyUrl", "HttpUrl", "AnyHttpUrl", "FileUrl", "FtpUrl", "WebsocketUrl",
        "PostgresDsn", "RedisDsn", "MongoDsn", "AmqpDsn", "KafkaDsn", "NatsDsn", "MySQLDsn",
        "MariaDBDsn", "CockroachDsn", "ClickHouseDsn", "SnowflakeDsn", "ByteSize",
        "FiniteFloat", "NonNegativeFloat", "IPvAnyNetwork",
    ),
]  # fmt: skip


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_texts_of_a_type_are_valid(type_: Any) -> None:
    model = pydantic.create_model("Model", of=(type_, ...))
    engine = Engine(Grammar.from_json_schema(model), Vocabulary.bytes())
    texts = sample_texts(engine, examples(60), 1, 24).texts
    assert texts
    for text in texts:
        model.model_validate_json(text)


@pytest.mark.parametrize(
    "name",
    ["color.Color", "country.CountryAlpha2", "country.CountryAlpha3", "country.CountryNumericCode",
     "coordinate.Latitude", "coordinate.Coordinate", "ulid.ULID", "language_code.LanguageAlpha2",
     "epoch.Number", "cron.CronStr", "mac_address.MacAddress", "domain.DomainStr"],
)  # fmt: skip
def test_texts_of_extra_types_are_valid(name: str) -> None:
    module, _, type_ = name.partition(".")
    try:
        found = getattr(importlib.import_module(f"pydantic_extra_types.{module}"), type_)
    except ImportError as error:
        pytest.skip(f"{error.name} is not installed")
    except RuntimeError as error:
        pytest.skip(str(error))
    test_texts_of_a_type_are_valid(found)


@pytest.mark.parametrize(
    "name", ["isbn.ISBN", "payment.PaymentCardNumber", "routing_number.ABARoutingNumber"]
)
def test_numbers_with_a_checksum_are_valid_but_for_that(name: str) -> None:
    module, _, type_ = name.partition(".")
    found = pytest.importorskip(f"pydantic_extra_types.{module}")
    model = pydantic.create_model("Model", of=(getattr(found, type_), ...))
    assert f"unkept: {type_}." in schema_text(model)
    engine = Engine(Grammar.from_json_schema(model), Vocabulary.bytes())
    valid = 0
    for text in sample_texts(engine, 100, 1, 24).texts:
        with suppress(pydantic.ValidationError):
            model.model_validate_json(text)
            valid += 1
    # One of ten, or eleven, would be by chance; of other texts none would.
    assert valid >= 3


class Color(str):
    """A class of which pydantic_extra_types has one of the same name."""

    @classmethod
    def _validate(cls, value: str) -> str:
        return value

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, __: Any) -> Any:
        schema = pydantic_core.core_schema
        return schema.no_info_after_validator_function(cls._validate, schema.str_schema())


def test_validators_of_the_same_name_are_not_known() -> None:
    model = pydantic.create_model("Model", of=(Color, ...))
    assert "unkept: Color._validate" in schema_text(model)


def test_e_mail_addresses_are_valid() -> None:
    pytest.importorskip("email_validator", reason="email-validator is not installed")
    test_texts_of_a_type_are_valid(pydantic.EmailStr)
    test_texts_of_a_type_are_valid(pydantic.NameEmail)


def test_checks_in_python_are_named() -> None:
    def is_even(value: int) -> int:
        return value

    model = pydantic.create_model(
        "Model",
        file=(pydantic.FilePath, ...),
        raw=(pydantic.Json[list[int]], ...),
        even=(Annotated[int, pydantic.AfterValidator(is_even)], ...),
        late=(Annotated[dt.time, Field(gt=dt.time(12))], ...),
        pair=(Annotated[set[int], Field(min_length=2)], ...),
        colors=(Annotated[set[_Color], Field(min_length=2)], ...),
        link=(pydantic.HttpUrl, ...),
    )
    found = check(schema_text(model), language=JSON_SCHEMA, language_options={"closed": True})
    assert [(each.code, each.pointer) for each in found] == [
        ("I830", f"/properties/{name}") for name in ("file", "raw", "even", "late", "pair")
    ]
    assert "is_even` decides in Python" in found[2].message
    plain = schema_text(model, lossless=False)
    assert '"format": "file-path"' in plain
    assert "unkept" not in plain


def test_an_address_with_a_bound_is_not_narrowed() -> None:
    model = pydantic.create_model("Model", of=(pydantic.HttpUrl, ...))
    grammar = Grammar.from_json_schema(model)
    assert grammar.status('{"of": "https://example.org/a/b?c=d#' + "e" * 50 + '"}') == "fits"
    assert grammar.status('{"of": "ftp://example.org"}') == "wrong"
