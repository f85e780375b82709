"""Settings of the reference engine: what bounds memory holds, the rest is said to do nothing."""

import warnings

import pytest

from kbnf_core import Config, Engine, Grammar, Limits, RegexConfig, Vocabulary, check
from kbnf_core.compat import kbnf
from kbnf_core.config import CompressionConfig, EngineConfig
from kbnf_core.lint import LintOptions
from kbnf_core.text.errors import ConfigError, GrammarError, VocabularyError

VOCABULARY = Vocabulary.bytes()
REGEX = 'start ::= #"(a|b)*a(a|b){8}" "$";'
SEARCH = 'start ::= #ex"(a|b)*a(a|b){8}" "$";'
EXCEPT = 'start ::= except!("ab", 200) "$";'


@pytest.mark.parametrize("make", [Engine, kbnf.Engine, kbnf.InternalEngine])
@pytest.mark.parametrize(
    ("grammar", "field"),
    [(REGEX, "regex_config"), (SEARCH, "regex_config"), (EXCEPT, "excepted_config")],
)
def test_memory_of_automata_is_bounded(make: type[Engine], grammar: str, field: str) -> None:
    other = {"regex_config": "excepted_config", "excepted_config": "regex_config"}[field]
    with pytest.raises(GrammarError) as caught:
        make(grammar, VOCABULARY, Config(**{field: RegexConfig(max_memory_usage=1000)}))  # type: ignore[arg-type]
    assert {each.code for each in caught.value.diagnostics} == {"E203"}
    make(grammar, VOCABULARY, Config(**{field: RegexConfig(max_memory_usage=2**20)}))  # type: ignore[arg-type]
    make(grammar, VOCABULARY, Config(**{other: RegexConfig(max_memory_usage=1000)}))  # type: ignore[arg-type]


def test_the_bound_is_that_of_the_table() -> None:
    # Ten states of two columns, the letter and the rest, each of four bytes.
    grammar = 'start ::= #"a{9}";'
    Grammar(grammar, limits=Limits(regex_bytes=80))
    with pytest.raises(GrammarError, match="79 bytes"):
        Grammar(grammar, limits=Limits(regex_bytes=79))


def test_a_small_regular_expression_fits_in_little_memory() -> None:
    engine = Engine('start ::= #"[0-9]+" "$";', VOCABULARY, _config(1000))
    engine.try_accept_new_bytes(b"12$")
    assert engine.is_finished()


def test_a_grammar_that_was_read_cannot_be_bounded() -> None:
    with pytest.raises(ConfigError, match="regex_bytes"):
        Engine(Grammar(REGEX), VOCABULARY, _config(1000))


def _config(memory: int) -> Config:
    return Config(regex_config=RegexConfig(max_memory_usage=memory))


UNHEEDED = {
    "regex_config.fsa_type": Config(regex_config=RegexConfig(fsa_type="Nfa")),
    "regex_config.min_tokens_required_for_eager_regex_cache": Config(
        regex_config=RegexConfig(min_tokens_required_for_eager_regex_cache=None)
    ),
    "excepted_config.fsa_type": Config(excepted_config=RegexConfig(fsa_type="Nfa")),
    "engine_config.cache_enabled": Config(engine_config=EngineConfig(cache_enabled=False)),
    "engine_config.compaction_enabled": Config(
        engine_config=EngineConfig(compaction_enabled=False)
    ),
    "compression_config.min_terminals": Config(compression_config=CompressionConfig(1)),
}


@pytest.mark.parametrize("name", UNHEEDED)
@pytest.mark.parametrize("make", [Engine, kbnf.Engine])
def test_what_cannot_be_done_is_warned_of(name: str, make: type[Engine]) -> None:
    with pytest.warns(UserWarning, match=f"Config.{name} has no effect"):
        make("start ::= 'a';", VOCABULARY, UNHEEDED[name])


def test_defaults_and_hints_are_not_warned_of() -> None:
    config = Config(
        regex_config=RegexConfig(max_memory_usage=10**6, fsa_type=kbnf.Fsa.Dfa),
        expected_output_length=10,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for settings in (None, Config(), config):
            Engine("start ::= 'a';", VOCABULARY, settings)


@pytest.mark.parametrize("ids", ["999999", "3, 257", "300-400", "^999999"])
def test_an_id_beyond_the_vocabulary_is_an_error(ids: str) -> None:
    grammar = f"start ::= #token[{ids}] 'a';"
    with pytest.raises(VocabularyError, match="the vocabulary has no token"):
        Engine(grammar, VOCABULARY)
    assert "E604" in [
        each.code for each in check(grammar, options=LintOptions(vocabulary=VOCABULARY))
    ]
    assert "E604" not in [each.code for each in check(grammar)]


@pytest.mark.parametrize("ids", ["256", "3, 255", "200-400", "^256"])
def test_an_id_of_the_vocabulary_is_none(ids: str) -> None:
    grammar = f"start ::= #token[{ids}] 'a';"
    Engine(grammar, VOCABULARY)
    options = LintOptions(vocabulary=VOCABULARY)
    assert "E604" not in [each.code for each in check(grammar, options=options)]


def test_an_id_beyond_the_vocabulary_is_an_error_in_lark() -> None:
    for ids, codes in (("999999", ["E604"]), ("65", [])):
        text = f'start: <[{ids}]> "a"\n'
        found = check(text, "a.lark", options=LintOptions(vocabulary=VOCABULARY))
        assert [each.code for each in found if each.code == "E604"] == codes
