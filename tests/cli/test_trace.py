"""``kbnf trace``: logs of a small random model, with brute force beside it."""

import json
from math import exp, log
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.trace import LogError, read_log, trace

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
    assert (change.choice, change.taken, change.rule) == (65, 49, "digits")
    assert change.margin == pytest.approx(0.5)
    assert change.removed == pytest.approx(exp(-0.5))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x", "line 1: this is no JSON"),
        ("[]", "is a JSON object"),
        ('{"token": "a"}', "has a `logprob`"),
        ('{"logprob": 1}', "an id or a text"),
        ('{"choices": [{}]}', "no `logprobs`"),
        ('{"choices": 3}', "are no list"),
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
    assert "line 2: the grammar does not take this token" in result.stderr


def test_loops_of_whitespace_forced_bytes_and_a_boundary() -> None:
    engine = Engine(Grammar(GRAMMAR), VOCABULARY, after="so:")
    tokens = [{"token": each, "logprob": -1.0} for each in "so:1" + 9 * " " + "2;"]
    found = trace(engine, read_log(map(json.dumps, tokens), VOCABULARY))
    assert found.loops == [9]
    assert found.steps == len(tokens)
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
