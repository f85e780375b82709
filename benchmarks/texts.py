"""Random texts of the workloads' languages, the same for the same seed."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

_WORDS = ("hello world", "The quick brown fox jumps", "name", "id", "こんにちは世界", "déjà vu")
_KEYS = ("name", "id", "value", "items", "x", "description", "ключ")
_LETTERS = 'abc déf漢字"\\\n xyz,:{}'
_SENTENCES = (
    "今日は天気がいいですね我们去公园吧東京タワー机器学习モデル的性能很好ひらがなカタカナAI2024年"
)


def json_document(random: Random) -> str:
    """Return an object or an array, indented or not."""
    value = _json_value(random, 0)
    while not isinstance(value, dict | list):
        value = _json_value(random, 0)
    indent = random.choice([None, None, 2])
    return json.dumps(value, ensure_ascii=random.random() < 0.3, indent=indent)


def _json_value(random: Random, depth: int) -> Any:
    kind = random.random()
    if depth > 4 or kind < 0.3:
        return _json_scalar(random)
    count = random.randint(0, 5)
    if kind < 0.65:
        return [_json_value(random, depth + 1) for _ in range(count)]
    return {random.choice(_KEYS): _json_value(random, depth + 1) for _ in range(count)}


def _json_scalar(random: Random) -> Any:
    letters = "".join(random.choices(_LETTERS, k=random.randint(0, 20)))
    numbers = (random.randint(-(10**6), 10**6), random.random() * 1e5)
    return random.choice([*numbers, True, False, None, letters, random.choice(_WORDS)])


def expression(random: Random, depth: int = 0) -> str:
    """Return a sum of products, with parentheses."""
    return _operations(random, " + ", " - ", lambda: _product(random, depth))


def arithmetic(random: Random) -> str:
    """Return an expression and its semicolon."""
    return expression(random) + ";"


def _product(random: Random, depth: int) -> str:
    return _operations(random, " * ", " / ", lambda: _atom(random, depth))


def _operations(random: Random, one: str, other: str, operand: Callable[[], str]) -> str:
    text = operand()
    while random.random() < 0.45:
        text += random.choice([one, other]) + operand()
    return text


def _atom(random: Random, depth: int) -> str:
    if depth < 5 and random.random() < 0.3:
        return f"({expression(random, depth + 1)})"
    whole = str(random.randint(0, 10**6))
    return whole + random.choice(["", "", f".{random.randint(0, 999)}"])


def c_program(random: Random) -> str:
    """Return some functions and the final dollar sign."""
    return "".join(_function(random) for _ in range(random.randint(1, 4))) + "$"


def _function(random: Random) -> str:
    parameters = [f"{_type(random)} {_name(random)}" for _ in range(random.randint(0, 3))]
    head = f"{_type(random)} {_name(random)}({', '.join(parameters)})"
    return head + _block(random, 0) + "\n"


def _block(random: Random, depth: int) -> str:
    blanks = "  " * depth
    lines = [f"{blanks}  {_statement(random, depth)}\n" for _ in range(random.randint(1, 5))]
    return " {\n" + "".join(lines) + blanks + "}"


def _statement(random: Random, depth: int) -> str:
    kind = random.randint(0, 5) if depth < 3 else random.randint(0, 3)
    value = _c_expression(random)
    if kind == 0:
        return f"{_type(random)} {_name(random)} = {value};"
    if kind == 1:
        return f"{_name(random)} = {value};"
    if kind == 2:
        return f'{_name(random)}("{random.choice(_WORDS)}\\n", {value});'
    if kind == 3:
        return f"@return {value};"
    if kind == 4:
        return f"@while ({value} < {random.randint(0, 99)}){_block(random, depth + 1)}"
    otherwise = "@else" + _block(random, depth + 1) if random.random() < 0.5 else ""
    return f"@if ({value} == {_name(random)}){_block(random, depth + 1)}{otherwise}"


def _c_expression(random: Random) -> str:
    text = expression(random, 3)
    return text.replace("(", f"{_name(random)}(", 1) if random.random() < 0.5 else text


def _type(random: Random) -> str:
    return random.choice(["int", "char", "double"])


def _name(random: Random) -> str:
    return random.choice(["Main", "Argc", "X", "Count", "Print_line", "BufferSize", "Node2"])


def log_lines(random: Random) -> str:
    """Return lines of a date and a URL, and the final dollar sign."""
    return "".join(f"{_date(random)} {_url(random)}\n" for _ in range(random.randint(1, 6))) + "$"


def _date(random: Random) -> str:
    year, month, day = random.randint(0, 9999), random.randint(1, 12), random.randint(1, 31)
    return f"{year:04}-{month:02}-{day:02}"


def _url(random: Random) -> str:
    host = random.choice(["www.example.com", "api.open-data.org", "a.b", "news.bbc.co.uk"])
    port = random.choice(["", "", f":{random.randint(1, 65535)}"])
    names = ["index.html", "v2", "users", "%7Eme", "search", "Q_1-2"]
    path = "".join("/" + random.choice(names) for _ in range(random.randint(0, 4)))
    query = random.choice(["", "", f"?q={random.randint(0, 999)}&lang=en"])
    return random.choice(["http", "https"]) + "://" + host + port + path + query


def code_block(random: Random) -> str:
    """Return text between ``<code>`` and ``</code>`` with much that looks like the end."""
    parts = [*_WORDS, "for (i = 0; i < n; i++)\n", "</", "<code>", "</cod", "x </b>", "🎉", "\t"]
    return "<code>" + " ".join(random.choices(parts, k=random.randint(3, 30))) + "</code>"


def cjk(random: Random) -> str:
    """Return Chinese and Japanese sentences and a line feed."""
    return "".join(_sentence(random) for _ in range(random.randint(1, 6))) + "\n"


def _sentence(random: Random) -> str:
    clauses = [
        "".join(random.choices(_SENTENCES, k=random.randint(2, 12)))
        for _ in range(random.randint(1, 4))
    ]
    return "、".join(clauses) + random.choice("。！？")
