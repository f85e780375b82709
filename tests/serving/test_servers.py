"""vLLM and SGLang: their distributions, driven as the servers drive them.

Against stand-ins of the servers' protocols, and against the protocols' own files where
``hosts.py`` has fetched them from the wheels; the rest of the servers is a stand-in in both.
"""

import importlib
import logging
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kbnf_core import Engine, Vocabulary, allocate_bitmask
from kbnf_core.text.errors import ConfigError, WorkLimitError
from kbnf_testing import servers

tokenizers = pytest.importorskip(
    "tokenizers", reason="tokenizers is not installed (extra `transformers`)"
)
torch = pytest.importorskip("torch", reason="torch is not installed (extra `torch`)")

WIDTH = 70
EOS, STOP = 35, 36
SPELLINGS = {
    **{chr(97 + i): i for i in range(8)},
    "ab": 8,
    "Ġ": 10,
    "1": 40,
    "{": 41,
    "}": 42,
    "|": 44,
}
TOKENIZER = tokenizers.Tokenizer(tokenizers.models.BPE(SPELLINGS, [("a", "b")]))
TOKENIZER.decoder = tokenizers.decoders.ByteLevel()
VOCABULARY = Vocabulary.of(TOKENIZER)
PATTERN = r"[a-h]{2,6}( [a-h]{2,4}){0,2}"


@pytest.fixture(params=["stand-in", pytest.param("wheel", marks=pytest.mark.slow)])
def host(request: pytest.FixtureRequest) -> Iterator[None]:
    is_real = request.param == "wheel"
    if is_real:
        servers.need_wheels()
    with servers.installed(TOKENIZER, is_real=is_real):
        yield


def pick(row: Any, random: Random) -> int:
    bits = np.unpackbits(row.numpy().view(np.uint8), bitorder="little")
    return int(random.choice(np.flatnonzero(bits).tolist()))


def spelled(ids: list[int]) -> str:
    return b"".join(VOCABULARY.token(each) or b"" for each in ids).decode()


@pytest.fixture
def vllm(host: None) -> Iterator[Any]:
    settings = SimpleNamespace(
        structured_outputs_config=SimpleNamespace(disable_any_whitespace=False)
    )
    backend = importlib.import_module("kbnf_vllm.backend").KbnfBackend(settings, TOKENIZER, WIDTH)
    yield backend
    backend.destroy()


def options() -> Any:
    types = importlib.import_module("vllm.v1.structured_output.backend_types")
    return types.StructuredOutputOptions


def test_vllm_plays_drafts_ends_and_ways_back(vllm: Any) -> None:
    grammar = vllm.compile_grammar(options().REGEX, PATTERN, {EOS, STOP})
    bitmask = vllm.allocate_token_bitmask(4)
    assert (bitmask.dtype, tuple(bitmask.shape)) == (torch.int32, (4, 3))
    for seed in range(30):
        random = Random(seed)
        grammar.reset()
        tokens: list[int] = []
        while not grammar.is_terminated():
            grammar.fill_bitmask(bitmask, 2)
            tokens.append(pick(bitmask[2], random))
            assert grammar.validate_tokens([tokens[-1], 43]) == tokens[-1:]
            assert not grammar.accept_tokens("request", [43])
            assert grammar.accept_tokens("request", tokens[-1:])
            if random.random() < 0.2:
                grammar.rollback(1)
                tokens.pop()
        assert tokens[-1] in (EOS, STOP)
        assert re.fullmatch(PATTERN, spelled(tokens[:-1]))
        assert grammar.accept_tokens("request", [EOS])
        assert grammar.validate_tokens([EOS]) == []
        grammar.rollback(2)
        assert not grammar.is_terminated()


@pytest.mark.parametrize(
    ("kind", "spec", "text"),
    [("JSON", '{"const": {}}', "{}"), ("JSON_OBJECT", "", "{}"), ("CHOICE", '["ab", "ba"]', "ab"),
     ("GRAMMAR", 'root ::= "ab" | "c"', "ab"), ("GRAMMAR", 'start: "ab"', "ab"),
     ("GRAMMAR", "start ::= 'ab';", "ab")],
)  # fmt: skip
def test_vllm_takes_every_kind_of_request(vllm: Any, kind: str, spec: str, text: str) -> None:
    grammar = vllm.compile_grammar(options()[kind], spec, {EOS})
    spellings = {VOCABULARY.token(i): i for i in range(WIDTH)}
    assert grammar.accept_tokens("r", [spellings[bytes([each])] for each in text.encode()])
    assert grammar.accept_tokens("r", [EOS])
    assert grammar.is_terminated()


def test_vllm_refuses_before_the_engine_and_at_it(vllm: Any) -> None:
    backend = sys.modules["kbnf_vllm.backend"]
    with pytest.raises(ValueError, match="E"):
        vllm.compile_grammar(options().REGEX, "(")
    for spec in ("(", "a"):
        asked = SimpleNamespace(structured_outputs=(options().REGEX, spec))
        if spec == "a":
            backend.validate(asked)
        else:
            with pytest.raises(servers.ValidationError, match="Grammar error"):
                backend.validate(asked)
    backend.validate(SimpleNamespace(structured_outputs=None))


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize(
    ("wanted", "version", "changed"), [("1", "0.33.0", True), ("1", "0.34.0", False),
                                       ("", "0.33.0", False), ("1", None, False)],
)  # fmt: skip
def test_vllm_is_changed_only_on_request_and_in_a_version_that_is_known(
    monkeypatch: pytest.MonkeyPatch, wanted: str, version: str | None, changed: bool
) -> None:
    package = importlib.import_module("kbnf_vllm")
    monkeypatch.setenv("KBNF_VLLM", wanted)
    _installed(monkeypatch, package, version)
    structured = sys.modules["vllm.v1.structured_output"]
    package.register()
    assert (structured.GuidanceBackend is not object) == changed
    guidance = sys.modules["vllm.v1.structured_output.backend_guidance"]
    assert (guidance.validate_guidance_grammar is not None) == changed


def _installed(monkeypatch: pytest.MonkeyPatch, package: Any, version: str | None) -> None:
    def found(name: str) -> str:
        if version is None:
            raise package.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(package, "version", found)


@pytest.mark.slow
def test_what_is_changed_in_vllm_is_there() -> None:
    servers.need_wheels()
    manager = (servers.HOSTS / "vllm/v1/structured_output/__init__.py").read_text(encoding="utf-8")
    assert "import GuidanceBackend" in manager
    assert "self.backend = GuidanceBackend(" in manager
    params = (servers.HOSTS / "vllm/sampling_params.py").read_text(encoding="utf-8")
    assert re.search(r"backend_guidance import \([^)]*validate_guidance_grammar", params)
    request = (servers.HOSTS / "vllm/v1/structured_output/request.py").read_text(encoding="utf-8")
    assert "def get_structured_output_key(" in request
    exllama = (servers.HOSTS / "exllamav3/generator/filter/filter.py").read_text(encoding="utf-8")
    for name in ("reset", "accept_token", "is_completed", "get_next_logit_mask", "rollback_tokens"):
        assert f"def {name}(" in exllama


@pytest.fixture
def sglang(host: None) -> Iterator[Any]:
    module = importlib.import_module("kbnf_sglang.server")
    backend = module.create(None, TOKENIZER, WIDTH, {EOS, STOP})
    yield backend
    backend._compiler.close()


def test_sglang_plays_drafts_ends_and_ways_back(sglang: Any) -> None:
    template = sglang.dispatch_regex(PATTERN)
    for seed in range(30):
        random = Random(seed)
        grammar = template.copy()
        mask = grammar.allocate_vocab_mask(WIDTH, 3, "cpu")
        tokens: list[int] = []
        while not grammar.is_terminated():
            grammar.reset_vocab_mask(mask)
            row = sys.modules["sglang.srt.constrained.base_grammar_backend"].GrammarRow
            grammar.fill_vocab_mask_batched([row(1, grammar)], mask)
            assert (mask[0] == -1).all()
            tokens.append(pick(mask[1], random))
            logits = torch.zeros(3, WIDTH)
            grammar.apply_vocab_mask(logits, grammar.move_vocab_mask(mask, "cpu"))
            assert logits[1, tokens[-1]] == 0
            assert logits[1, 43] == -torch.inf
            with pytest.raises(ValueError, match="43"):
                grammar.accept_token(43)
            grammar.accept_token(tokens[-1])
            if random.random() < 0.2:
                grammar.rollback(1)
                tokens.pop()
        assert tokens[-1] in (EOS, STOP)
        assert re.fullmatch(PATTERN, spelled(tokens[:-1]))
        grammar.accept_token(EOS)
        grammar.rollback(2)
        assert not grammar.is_terminated()


def test_sglang_takes_every_kind_of_request_and_refuses_by_a_value(sglang: Any) -> None:
    for kind, source in [("json", '{"const": {}}'), ("json", "$$ANY$$"), ("regex", r"\{\}"),
                         ("ebnf", 'root ::= "{}"')]:  # fmt: skip
        grammar = getattr(sglang, f"dispatch_{kind}")(source)
        for token_id in (41, 42, EOS):
            grammar.accept_token(token_id)
        assert grammar.is_terminated()
    for kind, source in [("json", "{"), ("regex", "("), ("ebnf", "root ::= x")]:
        refused = getattr(sglang, f"dispatch_{kind}")(source)
        assert type(refused).__name__ == "InvalidGrammarObject"
        assert refused.error_message


def test_sglang_jumps_by_tokens(sglang: Any) -> None:
    grammar = sglang.dispatch_regex("[ab]1 1 1")
    assert grammar.try_jump_forward(None) is None
    grammar.accept_token(0)
    tokens, text = grammar.try_jump_forward(None)
    assert (spelled(tokens[:5]), text) == ("1 1 1", "")
    assert grammar.jump_forward_str_state((tokens, text)) == ("", -1)


@pytest.mark.usefixtures("host")
def test_sglang_waits_for_the_end_of_reasoning_where_there_is_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = importlib.import_module("kbnf_sglang.server")
    monkeypatch.setattr(servers.SERVING, "reasoning_parser", "deepseek-r1")
    backend = module.create(None, TOKENIZER, WIDTH, None)
    assert isinstance(backend.grammar_backend, module.KbnfBackend)
    backend.grammar_backend._compiler.close()
    monkeypatch.setattr(servers.SERVING, "constrained_json_whitespace_pattern", " ?")
    with pytest.raises(ValueError, match="whitespace"):
        module.create(None, TOKENIZER, WIDTH, None)


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize(("version", "added"), [("0.5.23", ["kbnf"]), ("0.6.0", []), (None, [])])
def test_sglang_has_a_choice_more_in_a_version_that_is_known(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    version: str | None,
    added: list[str],
) -> None:
    package = importlib.import_module("kbnf_sglang")
    _installed(monkeypatch, package, version)
    choices = sys.modules["sglang.srt.arg_groups.choices"]
    registry = sys.modules["sglang.srt.constrained.base_grammar_backend"]
    with caplog.at_level(logging.WARNING):
        package.register()
    known: list[str] = choices.GRAMMAR_BACKEND_CHOICES
    assert known[-1:] == added or (not added and "kbnf" not in known)
    assert list(registry.GRAMMAR_BACKEND_REGISTRY) == added
    assert bool(caplog.records) != bool(added)


@pytest.mark.parametrize("place", servers.PLACES, ids=lambda place: place.name)
def test_no_entry_point_is_one_that_can_stop_a_server(place: Path) -> None:
    """One of vllm.logits_processors that does not fit stops every server where it is installed."""
    project = tomllib.loads((place / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"kbnf-vllm": "vllm.general_plugins", "kbnf-sglang": "sglang.srt.plugins"}
    assert list(project["entry-points"]) == [groups[place.name]]
    ours = tomllib.loads((servers.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert not [name for name in ours.get("entry-points", {}) if "vllm" in name]


def test_a_server_that_is_not_there_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for place, name in zip(servers.PLACES, ("kbnf_vllm", "kbnf_sglang"), strict=True):
        monkeypatch.syspath_prepend(str(place))
        package = importlib.import_module(name)
        monkeypatch.setenv("KBNF_VLLM", "1")
        _installed(monkeypatch, package, next(iter(package.KNOWN_VERSIONS)))
        package.register()


def _fail(state: int) -> None:
    raise WorkLimitError(1, f"the mask of state {state}")


def failing() -> Engine:
    """Return an engine whose masks cannot be made."""
    made = Engine("start ::= #'[a-h]+';", VOCABULARY, finish="eos", stop_token_ids=EOS)
    masks = made._automaton.masks
    masks.assembler.is_plain = False
    masks.__dict__.update(_find_viable=_fail)
    return made


def ends_of(row: Any) -> list[int]:
    bits = np.unpackbits(row.numpy().view(np.uint8), bitorder="little")
    found: list[int] = np.flatnonzero(bits).tolist()
    return found


def test_vllm_closes_a_request_whose_mask_fails_and_no_other(vllm: Any) -> None:
    grammar, other = (vllm.compile_grammar(options().REGEX, PATTERN, {EOS}) for _ in range(2))
    grammar.engine = failing()
    bitmask = vllm.allocate_token_bitmask(2)
    grammar.fill_bitmask(bitmask, 0)
    other.fill_bitmask(bitmask, 1)
    assert ends_of(bitmask[0]) == [EOS]
    assert ends_of(bitmask[1]) == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert not grammar.accept_tokens("r", [0])
    assert other.accept_tokens("r", [0])
    grammar.fill_bitmask(bitmask, 0)
    assert ends_of(bitmask[0]) == [EOS]


def test_vllm_goes_on_where_the_process_that_compiles_dies(vllm: Any) -> None:
    vllm.compile_grammar(options().REGEX, PATTERN, {EOS})
    compiler = vllm._compiler
    compiler.close()
    with pytest.raises(ConfigError, match="closed"):
        vllm.compile_grammar(options().REGEX, PATTERN + "a", {EOS})


@pytest.mark.parametrize(
    "settings",
    [{"kbnf_budget": 0}, {"kbnf_budget": "many"}, {"kbnf_after": []}],
)
def test_vllm_refuses_settings_that_mean_nothing(vllm: Any, settings: dict[str, Any]) -> None:
    requests = importlib.import_module("kbnf_vllm.requests")
    extra = {"kbnf_regex": "ab", **settings}
    with pytest.raises(ValueError, match="kbnf_"):
        requests.validate(SimpleNamespace(extra_args=extra))


def test_a_processor_of_vllm_keeps_a_budget_and_a_boundary_and_closes_what_it_cannot_make(
    vllm: Any,
) -> None:
    requests = importlib.import_module("kbnf_vllm.requests")
    followed = requests.Requests.__new__(requests.Requests)
    followed._compiler = vllm._compiler

    def follower(**extra: Any) -> Any:
        return followed.follow(SimpleNamespace(extra_args=extra, all_stop_token_ids={EOS}))

    waiting = follower(kbnf_regex="a+", kbnf_after="|", kbnf_budget=2)
    output: list[int] = []
    logits = [waiting(output, torch.zeros(WIDTH))]
    for token_id in (5, 44, 0):
        output.append(token_id)
        logits.append(waiting(output, torch.zeros(WIDTH)))
    free = [torch.nonzero(each == 0).flatten().tolist() for each in logits]
    assert len(free[0]) == len(free[1]) > 10
    assert free[2:] == [[0], [EOS]]
    for refused in ({"kbnf_regex": "("}, {"kbnf_regex": "aaaa", "kbnf_budget": 2}):
        closed = follower(**refused)(output, torch.zeros(WIDTH))
        assert torch.nonzero(closed == 0).flatten().tolist() == [EOS]


def test_sglang_closes_a_request_whose_mask_fails_and_no_other(host: None) -> None:
    backend = importlib.import_module("kbnf_sglang.backend")
    base = importlib.import_module("sglang.srt.constrained.base_grammar_backend")
    engine = Engine("start ::= #'[a-h]+';", VOCABULARY, finish="eos", stop_token_ids=EOS)
    closed, other = backend.KbnfGrammar(failing()), backend.KbnfGrammar(engine)
    mask = torch.from_numpy(allocate_bitmask(2, WIDTH))
    rows = [base.GrammarRow(0, closed), base.GrammarRow(1, other)]
    backend.KbnfGrammar.fill_vocab_mask_batched(rows, mask)
    assert ends_of(mask[0]) == [EOS]
    assert ends_of(mask[1]) == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    with pytest.raises(ValueError, match="closed"):
        closed.accept_token(0)
    other.accept_token(0)
