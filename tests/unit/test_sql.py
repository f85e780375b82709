"""The shipped grammar of SQL beside SQLite: everyday statements, and texts of the grammar."""

import re
import sqlite3
from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.examples.sampling import sample_texts
from kbnf_testing.membership import Language

GRAMMAR = Grammar("builtin:sql")

OUTPUTS = (
    "*",
    "count(*)",
    "T1.name, count(*) AS n",
    "DISTINCT city",
    "avg(age), max(price) - min(price)",
    "CASE WHEN a > 1 THEN 'x' ELSE 'y' END AS kind",
    "a || ' ' || b full_name, cast(c AS TEXT)",
    "row_number() OVER (PARTITION BY a ORDER BY b DESC)",
)
SOURCES = (
    "users",
    "users AS T1 JOIN orders AS T2 ON T1.id = T2.user_id",
    "a LEFT JOIN b USING (id), c",
    "(SELECT * FROM t LIMIT 5) AS s",
)
CONDITIONS = (
    "",
    " WHERE name LIKE '%x''y%' AND age BETWEEN 1 AND 10",
    " where id not in (select user_id from orders) or deleted is null",
    " WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id) AND NOT active",
)
ENDS = (
    "",
    ";",
    " GROUP BY T1.name HAVING count(*) >= 3 ORDER BY n DESC LIMIT 10",
    "\n  order by a, b desc limit 10 offset 20;",
)
OTHERS = (
    "INSERT INTO users (name, age) VALUES ('Ann', 31), ('Bob', NULL)",
    "insert or ignore into t select * from u where a = 1",
    "INSERT INTO t VALUES (?, :a, @b, $c) ON CONFLICT (id) DO NOTHING RETURNING id",
    "UPDATE t SET a = a + 1, b = upper(b) WHERE id = 3",
    "update t set (a, b) = (1, 2) from u where t.id = u.id",
    "DELETE FROM t",
    "delete from t where a in (1, 2, 3)",
    "WITH x AS (SELECT 1) SELECT * FROM x",
    "with recursive n(i) as (values (1) union all select i + 1 from n) select i from n limit 9",
    "SELECT a FROM t INTERSECT SELECT b FROM u ORDER BY 1",
    "SELECT T2.name FROM a AS T1 JOIN b AS T2 ON T1.x = T2.y JOIN c AS T3 ON T2.z = T3.z"
    ' WHERE T3.k = "v" GROUP BY T2.name ORDER BY count(*) DESC LIMIT 1',
    "SELECT data -> '$.a', data ->> 'b' || 'c' FROM t WHERE data->>'$.n' > 1",
    "INSERT INTO t (a, b) VALUES (1, 2) ON CONFLICT (a) DO UPDATE SET b = excluded.b WHERE b > 1",
    "SELECT max(x) FROM t WHERE y != 1 AND z == 2 OR w <> -2.5e3",
)


def statements() -> Iterator[str]:
    for outputs, source, condition, end in product(OUTPUTS, SOURCES, CONDITIONS, ENDS):
        yield "".join(("SELECT ", outputs, " FROM ", source, condition, end))
    yield from OTHERS


def is_sql(text: str) -> bool:
    """Return whether SQLite reads a text as one statement; what it is about need not exist."""
    try:
        sqlite3.connect(":memory:").execute(f"EXPLAIN {text}")
    except sqlite3.ProgrammingError:
        # Parameters without values, or a second statement.
        return True
    except sqlite3.Error as error:
        return not re.search("syntax error|unrecognized token|incomplete input", str(error))
    return True


def test_everyday_statements_are_taken() -> None:
    language = Language(GRAMMAR)
    texts = [*statements()]
    assert len(texts) > 500
    assert [each for each in texts if not is_sql(each)] == []
    assert [each for each in texts if not language.has(each)] == []


@pytest.mark.parametrize("seed", range(3))
def test_what_is_taken_is_read_by_sqlite(seed: int) -> None:
    random = Random(seed)
    language = Language(GRAMMAR)
    words = [re.findall(r"\w+|'[^']*'|\s+|.", each) for each in statements()]
    for _ in range(400):
        text = random.choice(words)[:]
        at = random.randrange(len(text))
        text[at : at + random.randrange(3)] = random.choice(words)[at : at + random.randrange(3)]
        changed = "".join(text)
        assert is_sql(changed) or not language.has(changed), changed


def test_texts_of_the_grammar_are_read_by_sqlite() -> None:
    drawn = sample_texts(Engine(GRAMMAR, Vocabulary.bytes()), 200, 3, 40).texts
    assert [each for each in drawn if not is_sql(each.decode().strip())] == []
