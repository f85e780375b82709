"""Runs inside a peer's environment: reads requests as JSON lines, answers each with one line.

Request: ``{"grammar", "tokens": {id: hex}, "offers": [id | hex]}``. Answer: ``{"error": text}`` if
the engine cannot be made, else ``{"initial": ids, "steps": [{"result", "allowed"}]}``. The very
first line says ``ready``, so that starting up does not count as the answer's time.
"""

import json
import logging
import resource
import sys
from typing import Any

import kbnf  # type: ignore[import-not-found]  # in the peer's environment only

logging.disable(logging.CRITICAL)
# Some grammars make the peer ask for all memory there is.
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

# What the peer's messages say, in one word.
WORDS = {"rejected": "Rejected", "does not exist": "Unknown", "is finished": "AfterEnd"}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    tokens = {int(key): bytes.fromhex(value) for key, value in request["tokens"].items()}
    vocabulary = kbnf.Vocabulary(
        {key: kbnf.Token(value) for key, value in tokens.items()},
        {key: repr(value) for key, value in tokens.items()},
    )
    try:
        engine = kbnf.Engine(request["grammar"], vocabulary)
        initial = allowed(engine)
    except BaseException as error:  # Panics of the peer are no Exception.
        return {"error": f"{type(error).__name__}: {error}"}
    return {"initial": initial, "steps": [step(engine, offer) for offer in request["offers"]]}


def step(engine: Any, offer: int | str) -> dict[str, Any]:
    try:
        return {"result": accept(engine, offer), "allowed": allowed(engine)}
    except BaseException as error:  # Panics of the peer are no Exception.
        return {"result": f"{type(error).__name__}: {error}", "allowed": []}


def accept(engine: Any, offer: int | str) -> str:
    try:
        if isinstance(offer, int):
            result = engine.try_accept_new_token(offer)
        else:
            result = engine.try_accept_new_bytes(bytes.fromhex(offer))
    except ValueError as error:
        return next(word for text, word in WORDS.items() if text in str(error))
    return str(result).rsplit(".", 1)[-1]


def allowed(engine: Any) -> list[int]:
    engine.compute_allowed_token_ids()
    ids: list[int] = engine.get_allowed_token_ids_from_last_computation()
    return ids


sys.stdout.write("ready\n")
sys.stdout.flush()
for line in sys.stdin:
    sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
    sys.stdout.flush()
