"""Configuration files: which one counts, and what may be in it."""

from pathlib import Path

import pytest

from kbnf_cli.config import Settings, settings_source
from kbnf_core.config import Finish
from kbnf_core.text.diagnostics import Severity
from kbnf_core.text.errors import ConfigError, SourceError
from kbnf_testing.command import Kbnf, Write


def _settings(file: str = "a.kbnf") -> Settings:
    return settings_source(None, False)(Path(file))


def test_every_key(write: Write) -> None:
    write(
        "sub/kbnf.toml",
        'select = ["E", "w1"]\nextend-select = ["unused-nonterminal"]\nignore = ["ALL"]\n'
        'fail-on = "warning"\nvocab = "tokens.json"\neos = [1, 2]\n',
    )
    settings = _settings("sub/a.kbnf")
    assert settings.select == ("E", "W1")
    assert settings.extend_select == ("W101",)
    assert settings.ignore == ("",)
    assert settings.fail_on is Severity.WARNING
    assert settings.vocab is not None
    assert Path(settings.vocab) == Path("sub/tokens.json").absolute()
    assert settings.eos == (1, 2)


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({"kbnf.toml": 'fail-on = "info"'}, Severity.INFO),
        ({"pyproject.toml": '[tool.kbnf]\nfail-on = "info"'}, Severity.INFO),
        ({"sub/kbnf.toml": 'fail-on = "info"', "kbnf.toml": 'fail-on = "error"'}, Severity.INFO),
        (
            {"kbnf.toml": 'fail-on = "info"', "pyproject.toml": '[tool.kbnf]\nfail-on = "error"'},
            Severity.INFO,
        ),
        ({"sub/pyproject.toml": "[tool.ruff]", "kbnf.toml": 'fail-on = "info"'}, Severity.INFO),
        ({"sub/kbnf.toml": "", "kbnf.toml": 'fail-on = "info"'}, None),
    ],
)
def test_nearest_wins(write: Write, files: dict[str, str], severity: Severity | None) -> None:
    for name, content in files.items():
        write(name, content)
    assert _settings("sub/deep/a.kbnf").fail_on is severity


def test_isolated_reads_nothing(write: Write) -> None:
    write("kbnf.toml", "no = 'such key'")
    assert settings_source(None, True)(Path("a.kbnf")) == Settings()


def test_named_file_counts_everywhere(write: Write) -> None:
    file = write("other.toml", 'fail-on = "info"')
    write("kbnf.toml", 'fail-on = "error"')
    assert settings_source(file, False)(Path("a.kbnf")).fail_on is Severity.INFO


def test_own_settings_go_over_others() -> None:
    settings = Settings(select=("E",)).over(Settings(select=("W",), ignore=("W1",)))
    assert (settings.select, settings.ignore) == (("E",), ("W1",))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("selct = []", "unknown key `selct`; did you mean `select`?"),
        ("zzz = 1", "unknown key `zzz`; the keys are select,"),
        ("select = 'E'", "`select`: a list of codes is needed"),
        ("select = [1]", "`select`: a list of codes is needed"),
        ("ignore = ['X9']", "`ignore`: no code or name of a rule matches 'X9'"),
        ("fail-on = 'never'", "`fail-on`: error, warning or info is needed"),
        ("vocab = 1", "`vocab`: `bytes` or the path"),
        ("eos = [-1]", "`eos`: a list of token ids"),
        ("eos = [true]", "`eos`: a list of token ids"),
        ("a = = b", "kbnf.toml: Invalid value"),
        (b"\xff", "kbnf.toml: "),
    ],
)
def test_mistakes(write: Write, content: str | bytes, message: str) -> None:
    write("kbnf.toml", content)
    with pytest.raises(ConfigError) as caught:
        _settings()
    assert message in str(caught.value)


def test_tool_kbnf_must_be_a_table(write: Write) -> None:
    write("pyproject.toml", "[tool]\nkbnf = 1")
    with pytest.raises(ConfigError, match="is not a table"):
        _settings()


def test_missing_named_file() -> None:
    with pytest.raises(SourceError, match="no such file"):
        settings_source(Path("missing.toml"), False)


def test_both_options_exclude_each_other() -> None:
    with pytest.raises(ConfigError, match="exclude each other"):
        settings_source(Path("a.toml"), True)


def test_a_nested_file_extends_another(write: Write) -> None:
    write("kbnf.toml", 'finish = "eos"\nignore = ["W3"]\nexclude = ["legacy"]\n')
    write("sub/kbnf.toml", 'extend = "../kbnf.toml"\nignore = ["W1"]\n')
    write("sub/deep/pyproject.toml", '[tool.kbnf]\nextend = "../kbnf.toml"\nfail-on = "info"\n')
    settings = _settings("sub/deep/a.kbnf")
    assert settings.finish is Finish.EOS
    assert (settings.ignore, settings.fail_on) == (("W1",), Severity.INFO)
    assert settings.exclude is not None
    assert settings.exclude.match(Path("legacy").resolve(), "/"), "from where it was written"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('extend = "kbnf.toml"', "leads back"),
        ('extend = "other/pyproject.toml"', "has no \\[tool.kbnf\\] to extend"),
        ("extend = 1", "the path of a configuration file"),
    ],
)
def test_what_cannot_be_extended(write: Write, content: str, message: str) -> None:
    write("other/pyproject.toml", "[tool]")
    write("kbnf.toml", content)
    with pytest.raises(ConfigError, match=message):
        _settings()


def test_codes_on_request_need_a_selector() -> None:
    assert "I309" not in Settings().selection
    assert "I309" in Settings(extend_select=("I3",)).selection
    assert "I309" in Settings(select=("I309",)).selection


SCHEMA = '{"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}'


def _spaces(out: str) -> bool:
    return " " in out.replace("\n", "")


def test_options_of_languages_are_of_the_folder(kbnf: Kbnf, write: Write) -> None:
    write("kbnf.toml", 'whitespace = "compact"\nclosed = true\n')
    write("a.schema.json", SCHEMA)
    write("a.kbnf", 'start ::= "a b" ";";')
    write("open/kbnf.toml", 'extend = "../kbnf.toml"\nclosed = false\n')
    write("open/a.schema.json", SCHEMA)
    assert kbnf("sample", "a.schema.json").out == '{"a":1}\n'
    assert kbnf("match", "a.schema.json", "--text", '{"a":1,"b":2}').status == 1
    assert kbnf("match", "open/a.schema.json", "--text", '{"a":1,"b":2}').status == 0
    assert kbnf("sample", "a.schema.json", "--whitespace", "printed", "-n", "1").out != '{"a":1}\n'
    assert kbnf("sample", "a.kbnf").out == "a b;\n"
    for command in (("convert",), ("convert-json-schema",), ("explain",)):
        compact = kbnf(*command, "a.schema.json").out
        write("flexible/kbnf.toml", 'whitespace = "flexible"')
        write("flexible/a.schema.json", SCHEMA)
        assert kbnf(*command, "flexible/a.schema.json").out != compact
    assert kbnf("diff", "a.schema.json", "open/a.schema.json").status == 1


def test_tables_of_commands(kbnf: Kbnf, write: Write) -> None:
    file = write("kbnf.toml", '[sample]\nnumber = 3\nformat = "json"\n[mask]\nformat = "ids"\n')
    assert kbnf("sample", "json").out.startswith('{"schema": "kbnf.sample/1"')
    assert len(kbnf("sample", "json", "--format", "text").out.splitlines()) == 3
    assert len(kbnf("sample", "json", "--format", "text", "-n", "2").out.splitlines()) == 2
    assert len(kbnf("sample", "json", "--isolated").out.splitlines()) == 20
    assert kbnf("sample", "-h").out == kbnf("sample", "--help").out != ""
    write("kbnf.toml", "")
    moved = write("sub/other.toml", file.read_text() + "[sample]\nnumber = 1\nformat = 'text'\n")
    assert len(kbnf("sample", "json", "--config", str(moved)).out.splitlines()) == 1


def test_the_console_is_configured(kbnf: Kbnf, write: Write) -> None:
    write("kbnf.toml", 'color = "always"\nquiet = true\n')
    write("a.kbnf", 'start ::= "[0-9]";')
    assert "\x1b[" in kbnf("check", "a.kbnf").out
    assert "\x1b[" not in kbnf("check", "--color", "never", "a.kbnf").out
    assert "\x1b[" not in kbnf("--color", "never", "check", "a.kbnf").out
    assert "in 1 file" not in kbnf("check", "a.kbnf").stderr
    assert "in 1 file" in kbnf("check", "-v", "a.kbnf").stderr
    assert "in 1 file" in kbnf("-v", "check", "a.kbnf").stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('\nwhitespace = "cmpact"', ":2:1: `whitespace`: 'cmpact' is not one of 'printed'"),
        ("single-call = 1", ":1:1: `single-call`: true or false is needed"),
        ("strict = ['openai']", ":1:1: `strict`: one value is needed"),
        ('[check]\n[sample]\nnumber = "x"', ":3:1: `number`: 'x' is not a valid integer"),
        ("[sample]\n  numbr = 3", ":2:3: `[sample]` has no key `numbr`; did you mean `number`?"),
        ("[sample]\norder = 'any'", ":2:1: `[sample]` has no key `order`; it is set above all"),
        ("[sample]\nconfig = 'a'", ":2:1: `[sample]` has no key `config`"),
        ("[smple]\nnumber = 3", ":1:2: unknown key `smple`; did you mean `sample`?"),
    ],
)
def test_errors_have_their_place(kbnf: Kbnf, write: Write, text: str, message: str) -> None:
    write("kbnf.toml", text)
    result = kbnf("sample", "json")
    assert (result.status, f"kbnf.toml{message}" in result.stderr) == (2, True), result.stderr
    assert kbnf("help", "settings").status == kbnf("sample", "json", "--isolated").status == 0


@pytest.mark.parametrize("value", ["1e400", "-inf", "nan", "1.5", "true", "'x'"])
def test_a_number_of_tokens_is_whole(kbnf: Kbnf, write: Write, value: str) -> None:
    write("kbnf.toml", f"[sample]\nmax-tokens = {value}\n")
    done = kbnf("sample", write("a.kbnf", "start ::= 'a';\n"))
    assert done.status == 2
    assert "`max-tokens`" in done.stderr
