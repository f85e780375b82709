"""``kbnf trace``: logs of a small random model, with brute force beside it."""

import json
from itertools import pairwise
from math import exp, log
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.text.errors import EngineError
from kbnf_core.trace import LogError, advise, read_log, trace

GRAMMAR = "start ::= digits ';';\ndigits ::= #'[0-9 ]+';\n"
VOCABULARY = Vocabulary.bytes()


def distribution(random: Random, among: list[int]) -> list[dict[str, Any]]:
    weights = {each: random.expovariate(1) for each in random.sample(among, 6)}
    whole = sum(weights.values()) * 1.25
    return [{"token_id": each, "logprob": log(weight / whole)} for each, weight in weights.items()]


def written(random: Random, engine: Engine) -> list[dict[str, Any]]:
    """Return the log of one text of a random model that the engine constrains."""
    engine.reset()
    records: list[dict[str, Any]] = []
    while not engine.is_finished() and len(records) < 40:
        engine.compute_allowed_token_ids()
        allowed = engine.get_allowed_token_ids_from_last_computation()
        top = distribution(random, [*range(32, 127), *allowed])
        fitting = [each for each in top if each["token_id"] in allowed]
        taken = max(fitting, key=lambda each: each["logprob"]) if fitting else {
            "token_id": random.choice(allowed), "logprob": -9.0
        }  # fmt: skip
        records.append({**taken, "top_logprobs": top})
        engine.try_accept_new_token(int(taken["token_id"]))
    return records


def test_removed_mass_is_that_of_brute_force(kbnf: Any, tmp_path: Path) -> None:
    random = Random(4)
    engine = Engine(Grammar(GRAMMAR), VOCABULARY)
    texts = [written(random, engine) for _ in range(8)]
    removed, changes = 0.0, 0
    for text in texts:
        engine.reset()
        for record in text:
            engine.compute_allowed_token_ids()
            allowed = engine.get_allowed_token_ids_from_last_computation()
            top = record["top_logprobs"]
            removed += sum(exp(e["logprob"]) for e in top if e["token_id"] not in allowed)
            best = max(top, key=lambda each: each["logprob"])
            changes += best["token_id"] not in allowed
            engine.try_accept_new_token(record["token_id"])
    lines = [{"choices": [{"logprobs": {"content": named(text)}}]} for text in texts]
    (tmp_path / "g.kbnf").write_text(GRAMMAR)
    log_file = tmp_path / "log.jsonl"
    log_file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = kbnf("trace", str(tmp_path / "g.kbnf"), str(log_file), "--format", "json")
    assert result.status == 0
    found = json.loads(result.out)
    assert found["steps"] == sum(map(len, texts))
    assert len(found["changes"]) == changes > 10
    assert sum(each["removed"] for each in found["rules"]) == pytest.approx(removed)
    assert {each["rule"] for each in found["rules"]} <= {"start", "digits"}
    assert found["rejected"] == []
    shown = kbnf("trace", str(tmp_path / "g.kbnf"), str(log_file))
    assert f"the grammar removed the choice of {changes}" in shown.out
    assert "rule digits:" in shown.out


def named(text: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tokens by their texts instead of ids, as servers write them."""

    def one(record: dict[str, Any]) -> dict[str, Any]:
        token_id = record["token_id"]
        data = b"" if token_id == 256 else bytes((token_id,))
        return {"token": data.decode(), "bytes": list(data), "logprob": record["logprob"]}

    return [
        {**one(each), "top_logprobs": [one(top) for top in each["top_logprobs"]]} for each in text
    ]


@pytest.mark.parametrize(
    "line",
    [
        {"completion_probabilities": [{"id": 49, "token": "1", "logprob": -1.0,
          "top_logprobs": [{"id": 65, "token": "A", "logprob": -0.5}]}]},
        {"choices": [{"logprobs": {"tokens": ["1"], "token_logprobs": [-1.0],
          "top_logprobs": [{"A": -0.5}]}}]},
        {"choices": [{"logprobs": {"content": [{"token": "token_id:49", "logprob": -1.0,
          "top_logprobs": [{"token": "token_id:65", "logprob": -0.5}]}]}}]},
        {"token": "1", "logprob": -1.0, "top_logprobs": [{"token": "A", "logprob": -0.5}]},
    ],
)  # fmt: skip
def test_every_kind_of_log_is_read(line: dict[str, Any]) -> None:
    found = trace(Engine(Grammar(GRAMMAR), VOCABULARY), read_log([json.dumps(line)], VOCABULARY))
    (change,) = found.changes
    found_ids = change.choice.token_id, change.taken.token_id
    assert (*found_ids, change.rule) == (65, 49, "digits")
    assert change.margin == pytest.approx(0.5)
    assert change.removed == pytest.approx(exp(-0.5))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x", "line 1: this is not JSON"),
        ("[]", "is a JSON object"),
        ('{"token": "a"}', "has a `logprob`"),
        ('{"logprob": 1}', "an id or a text"),
        ('{"choices": [{}]}', "no `logprobs`"),
        ('{"choices": 3}', "are not a list"),
        ('{"token": "a", "logprob": 0, "bytes": [999]}', "below 256"),
    ],
)
def test_what_is_no_log_is_one_clear_error(kbnf: Any, line: str, message: str) -> None:
    with pytest.raises(LogError, match=message):
        list(read_log([line], VOCABULARY))
    result = kbnf("trace", "json", "-", stdin=line.encode())
    assert result.status == 2
    assert message in result.stderr


def test_a_token_that_the_grammar_does_not_take_ends_its_text(kbnf: Any, tmp_path: Path) -> None:
    (tmp_path / "g.kbnf").write_text(GRAMMAR)
    tokens = [{"token": each, "logprob": -1.0} for each in "1x2"]
    lines = "\n".join(map(json.dumps, tokens))
    result = kbnf("trace", str(tmp_path / "g.kbnf"), "-", stdin=lines.encode())
    assert result.status == 1
    assert "line 2: the grammar does not accept this token" in result.stderr


def test_loops_of_whitespace_forced_bytes_and_a_boundary() -> None:
    engine = Engine(Grammar(GRAMMAR), VOCABULARY, after="so:")
    tokens = [{"token": each, "logprob": -1.0} for each in "so:1" + 9 * " " + "2;"]
    found = trace(engine, read_log(map(json.dumps, tokens), VOCABULARY))
    assert found.loops == [9]
    assert found.steps == len(tokens)
    found = trace(engine, read_log(map(json.dumps, tokens[:2]), VOCABULARY))
    assert found.unfinished == [0]
    fixed = Engine(Grammar("start ::= 'abc' | 'abd';"), VOCABULARY)
    tokens = [{"token": each, "logprob": -1.0} for each in "abc"]
    assert trace(fixed, read_log(map(json.dumps, tokens), VOCABULARY)).forced_bytes == 2


def test_each_token_of_a_log_is_replayed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(1)
    engine = Engine(Grammar(GRAMMAR), VOCABULARY)
    lines = [
        json.dumps({"choices": [{"logprobs": {"content": written(random, engine)}}]})
        for _ in range(50)
    ]
    masks = 0
    compute = Engine.compute_allowed_token_ids

    def count(engine: Engine) -> None:
        nonlocal masks
        masks += 1
        compute(engine)

    monkeypatch.setattr(Engine, "compute_allowed_token_ids", count)
    found = trace(engine, read_log(lines, VOCABULARY))
    assert found.texts == 50
    assert 0 < masks <= found.steps


VALUES = [
    '{"name": "Zoë", "age": 4}', '{"name": "你好 😀", "age": -12}', '{ "name" : "", "age" : 0 }',
    '{"name": "a\\nb", "age": 7}', '{"name":"x","age":1}', '{"name": "Zoë", "age": 4',
    '{"name": "Zoë"}', '{"age": 4, "name": "Zoë"}', '{"name": "Zoë", "age": 4}}', "Sure: {}",
    "", '{"name": "Zoë", "age": 4} thanks', '{"name": "Zoë", "age": 4.5}', '{"name": 4, "age": 4}',
    '{"name": "Zoë", "age": ', '{"name": "\t", "age": 4}', "[1]", '{"name": "é", "age": 40}',
    '{"name": "<|im_end|>", "age": 40}', '{"nom": "é", "age": 40}',
]  # fmt: skip
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name", "age"],
        "additionalProperties": False,
    }
)


def matches(engine: Engine, text: str) -> bool:
    """Tell what ``kbnf match`` tells."""
    engine.reset()
    try:
        engine.try_accept_new_bytes(text.encode())
    except EngineError:
        return False
    return engine.can_finish()


def pieces(random: Random, text: str) -> list[bytes]:
    """Return a text as tokens that no vocabulary here has, some cut within characters."""
    data, cuts = text.encode(), [0]
    while cuts[-1] < len(data):
        cuts.append(min(len(data), cuts[-1] + random.randint(1, 5)))
    return [data[begin:end] for begin, end in pairwise(cuts)]


def as_openai(tokens: list[bytes]) -> dict[str, Any]:
    content = [
        {"token": each.decode("utf-8", "replace"), "bytes": list(each), "logprob": -0.1,
         "top_logprobs": [{"token": "Q", "bytes": [81], "logprob": -3.0}]}
        for each in tokens
    ]  # fmt: skip
    return {"choices": [{"message": {"content": ""}, "logprobs": {"content": content}}]}


def as_vllm(tokens: list[bytes]) -> dict[str, Any]:
    """Return the older completions, in which bytes that are no text have names."""

    def shown(data: bytes) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError:
            return "bytes:" + "".join(f"\\x{each:02x}" for each in data)

    logs = {
        "tokens": [shown(each) for each in tokens],
        "token_logprobs": [None, *(-0.1 for _ in tokens[1:])],
        "top_logprobs": [{shown(each): -0.1, "Q": -3.0} for each in tokens],
    }
    return {"choices": [{"text": "", "logprobs": logs}]}


def as_llama(tokens: list[bytes]) -> dict[str, Any]:
    end = [{"id": 2, "token": "<|im_end|>", "bytes": list(b"<|im_end|>"), "logprob": -0.1}]
    return {
        "completion_probabilities": [
            {"id": 1000 + place, "token": "?", "bytes": list(each), "logprob": -0.1,
             "top_logprobs": [{"id": 7, "token": "Q", "bytes": [81], "logprob": -3.0}]}
            for place, each in enumerate(tokens)
        ] + end
    }  # fmt: skip


@pytest.mark.parametrize("log_of", [as_openai, as_vllm, as_llama])
def test_logs_without_a_vocabulary_are_judged_as_match_judges_their_texts(log_of: Any) -> None:
    random, grammar = Random(8), Grammar.from_json_schema(SCHEMA)
    assert len(VALUES) == 20
    for text in VALUES:
        if not text and log_of is as_vllm:
            continue
        engine = Engine(grammar, VOCABULARY)
        line = json.dumps(log_of(pieces(random, text)))
        found = trace(engine, read_log([line], None))
        assert (not found.rejected and not found.unfinished) == matches(engine, text), text
        assert found.noncanonical == 0


@pytest.mark.parametrize(("place", "status"), [(0, 0), (5, 1), (7, 1)])
def test_the_command_needs_no_vocabulary(
    kbnf: Any, tmp_path: Path, place: int, status: int
) -> None:
    (tmp_path / "g.json").write_text(SCHEMA)
    (tmp_path / "log.jsonl").write_text(json.dumps(as_openai(pieces(Random(2), VALUES[place]))))
    paths = [str(tmp_path / name) for name in ("g.json", "log.jsonl")]
    result = kbnf("trace", *paths)
    assert result.status == status == kbnf("match", paths[0], "--text", VALUES[place]).status
    assert "is not known without --vocab" in result.out
    alone = json.dumps({"token_id": 4, "logprob": -1.0})
    refused = kbnf("trace", paths[0], "-", stdin=alone.encode())
    assert refused.status == 2
    assert "has an id alone" in refused.stderr


def test_what_to_change_is_said_where_steps_show_it() -> None:
    grammar = Grammar.from_json_schema(SCHEMA, whitespace="compact")
    start = [(b"{", b"Sure"), (b'"', b'"'), (b"name", b"age"), (b'":"a","', b'":"a","')]
    end = [(b"age", b"years"), (b'":4}', b'":4}')]
    content = [
        {"bytes": list(taken), "token": "", "logprob": -2.0,
         "top_logprobs": [{"bytes": list(wanted), "token": "", "logprob": -0.2}]}
        for taken, wanted in [*start, *end]
    ]  # fmt: skip
    line = json.dumps({"choices": [{"logprobs": {"content": content}}]})
    found = trace(Engine(grammar, VOCABULARY), read_log([line, line], None))
    assert [(each.kind, each.wanted, each.written, each.count) for each in advise(found)] == [
        ("name", "years", "age", 2),
        ("order", "age", "name", 2),
        ("think", "", "", 2),
    ]
    assert not advise(trace(Engine(grammar, VOCABULARY), read_log([line], None)))
