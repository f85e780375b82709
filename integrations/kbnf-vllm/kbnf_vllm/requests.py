"""What a request asks of the logits processors, by a name in its ``extra_args``."""

import logging
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from kbnf_core import Compiler, Engine, KbnfError, Vocabulary
from kbnf_core.convert import detect
from kbnf_core.integrations import schema_options
from kbnf_core.integrations.stepwise import EngineText

_logger = logging.getLogger(__name__)

KINDS = ("json_schema", "regex", "choice", "grammar", "structural_tag")
PREFIX = "kbnf_"
SETTINGS = ("after", "after_tokens", "budget")
"""What else a request may ask for: those of ``Engine``."""

_CLOSED = "start ::= 'x';"
"""A grammar for requests that have none; nothing of it is ever allowed."""
OPTIONS = "kbnf_schema_options"
"""The name of the options of a JSON Schema, beside its own."""

Asked = tuple[str, Any, dict[str, Any]]
"""What a ``Compiler`` is asked for: the kind, the source and options."""


def asked(sampling_params: Any) -> Asked | None:
    """Return what a request asks for, if anything; ``ValueError`` for what it cannot."""
    given = sampling_params.extra_args or {}
    settings = [OPTIONS, *(PREFIX + name for name in SETTINGS)]
    names = [name for name in given if name.startswith(PREFIX) and name not in settings]
    known = [PREFIX + kind for kind in KINDS]
    if len(names) > 1 or not set(names) <= set(known):
        raise ValueError(f"a request names one of {', '.join(known)}, not {', '.join(names)}")
    if not names:
        return None
    for name, least in (("budget", 1), ("after_tokens", 0)):
        count = given.get(PREFIX + name)
        if count is not None and (not isinstance(count, int) or count < least):
            raise ValueError(f"{PREFIX}{name} is a number of tokens, not {count!r}")
    after = given.get(PREFIX + "after")
    if after is not None and not isinstance(after, str | int):
        raise ValueError(f"{PREFIX}after is a text or a token id, not {after!r}")
    kind, source = names[0].removeprefix(PREFIX), given[names[0]]
    if kind == "grammar":
        return kind, source, {"language": detect(str(source), "").lower()}
    own = given.get(OPTIONS) or {}
    if own and (kind != "json_schema" or not isinstance(own, dict)):
        raise ValueError(f"{OPTIONS} is an object of options, for a request with kbnf_json_schema")
    return kind, source, dict(own)


def check(wanted: Asked) -> None:
    """Raise ``ValueError`` for a grammar that cannot be used."""
    kind, source, options = wanted
    try:
        with Compiler(Vocabulary.bytes()) as compiler:
            grammar = compiler.submit(kind, source, **options).result()
            grammar.tables  # noqa: B018 - what passes a limit is refused here
    except KbnfError as error:
        raise ValueError(str(error)) from error


class Follower:
    """The text of a request, and how many tokens of its output are in it."""

    def __init__(self, text: EngineText) -> None:
        self.text = text
        self.seen = 0

    def append(self, tokens: Sequence[int]) -> None:
        """Append tokens of the output; a negative one is not there yet."""
        new = list(takewhile(lambda token_id: token_id >= 0, tokens))
        self.text.append(new)
        self.seen += len(new)

    def __call__(self, output_ids: list[int], logits: Any) -> Any:
        """Return the logits of a row, those of tokens that cannot come at minus infinity."""
        self.append(output_ids[self.seen :])
        return self.text.mask(logits)


class Requests:
    """Follows the requests of a server with one model; grammars are compiled once."""

    def __init__(self, vllm_config: Any) -> None:
        from vllm.tokenizers import cached_tokenizer_from_config

        model = vllm_config.model_config
        tokenizer = cached_tokenizer_from_config(model_config=model)
        self._compiler = Compiler(
            Vocabulary.of(tokenizer, size=model.get_vocab_size()), schema_options=schema_options()
        )

    def follow(self, sampling_params: Any) -> Follower | None:
        """Return what follows a request; None for one that asks for nothing."""
        wanted = asked(sampling_params)
        if wanted is None:
            return None
        kind, source, options = wanted
        vocabulary = self._compiler.vocabulary
        stops = sorted(sampling_params.all_stop_token_ids) or None
        given = sampling_params.extra_args
        settings = {name: given.get(PREFIX + name) for name in SETTINGS}
        try:
            grammar = self._compiler.submit(kind, source, **options).result()
            engine = Engine(grammar, vocabulary, finish="eos", stop_token_ids=stops, **settings)
        except Exception:
            # The request was checked when it came. Here an error would end the whole server.
            _logger.exception("a request is closed, since its grammar cannot be made")
            closed = EngineText(Engine(_CLOSED, vocabulary, stop_token_ids=stops))
            closed.close()
            return Follower(closed)
        return Follower(EngineText(engine))


def validate(sampling_params: Any) -> None:
    """Raise ``ValueError`` for a request that ``Requests.follow`` would refuse."""
    wanted = asked(sampling_params)
    if wanted is not None:
        check(wanted)
