"""The inputs of commands: the grammar, vocabulary and settings that shared options name.

A grammar is a text in any language, an artifact, the name of one that is included, or a class of
Python, ``module:Class``, as its JSON Schema. The last imports, and so runs, the module.

Tests: tests/cli
"""

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn

import click
from click.shell_completion import CompletionItem

from kbnf_cli.config import Settings, SettingsFor, settings_source
from kbnf_cli.console import Console
from kbnf_cli.files import STDIN, FileChoice, IgnorePatterns, is_model_name, read_bytes, read_text
from kbnf_core.config import NO_DEFAULTS, Defaults
from kbnf_core.kbnf.parsed import NO_OPTIONS
from kbnf_core.languages import JSON_SCHEMA
from kbnf_core.shipped import PREFIX, grammar_file, grammar_names, shown_path
from kbnf_core.text.errors import ConfigError, GrammarError, KbnfError, SourceError

if TYPE_CHECKING:
    from kbnf_core import Engine, Grammar, Vocabulary
    from kbnf_core.frontend import Reading
    from kbnf_core.languages import Language
    from kbnf_core.text.diagnostics import Diagnostic
    from kbnf_core.text.files import Imports
    from kbnf_core.text.source import Source


_WITHOUT_RULES = ("JSON Schema", "Tool list")
"""Languages whose texts have no rules to be shown, and are written as KBNF."""

UNNAMED = "<stdin>"
"""The name of stdin unless an option gives one."""


class GrammarPath(click.Path):
    """The path of a grammar, or the name of one that is shipped; an existing path wins."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self,
        value: "str | os.PathLike[str]",
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> "str | bytes | os.PathLike[str]":
        """Return the path that is meant; fail for a name of none."""
        name = os.fspath(value)
        if not os.path.lexists(name):
            result = grammar_file(name)
            if result is not None:
                return result
        if name.startswith(PREFIX):
            listed = ", ".join(grammar_names())
            self.fail(f"there is no grammar {name!r}; there are {listed}", param, ctx)
        return super().convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete the grammars in this folder and the included ones by name; else any path."""
        names = [name for name in grammar_names() if name.startswith(incomplete)]
        if os.sep in incomplete or not names:
            return super().shell_complete(ctx, param, incomplete)
        from kbnf_core.languages import EXTENSIONS

        here = sorted(entry for entry in os.listdir() if entry.startswith(incomplete))
        files = [name for name in here if name.endswith((*EXTENSIONS, ".json", ".kbnfc"))]
        return [*map(CompletionItem, files), *map(CompletionItem, names)]


GRAMMAR = GrammarPath()

_COMMENT = r"(?s)\(\*.*?\*\)"
_DEFINED = r"(?m)^[ \t]*([A-Za-z_][\w-]*)[ \t]*(?:::?=|=)"
_DEFINED_IN_LARK = r"(?m)^[?!]?([A-Za-z_]\w*)(?:\.-?\d+)?[ \t]*:"


def complete_rule(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the rules of the grammar that the command line names, as its text defines them."""
    named = [path for path in ctx.params.values() if isinstance(path, Path)]
    with suppress(KbnfError):
        text = read_bytes(named[0]).decode("utf-8", "replace") if named else ""
        is_lark = bool(named) and named[0].suffix == ".lark"
        defined = _DEFINED_IN_LARK if is_lark else _DEFINED
        rules = dict.fromkeys(re.findall(defined, re.sub(_COMMENT, "", text)))
        return [CompletionItem(rule) for rule in rules if rule.startswith(incomplete)]
    return []


class GrammarOr(click.ParamType[str | Path]):
    """A grammar, or a text of which ``is_other`` says that it is something else."""

    def __init__(self, name: str, is_other: Callable[[str], bool]) -> None:
        self.name = name
        self._is_other = is_other

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | Path:
        """Return a path, or the text of any other value."""
        text = str(value)
        return text if self._is_other(text) else Path(str(GRAMMAR.convert(text, param, ctx)))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete as grammars do."""
        return GRAMMAR.shell_complete(ctx, param, incomplete)


def name_of(path: Path, stdin_filename: Path | None) -> Path:
    """Return the name of a file: stdin's name for ``-``, a shipped grammar by its own."""
    return (stdin_filename or Path(UNNAMED)) if path == STDIN else shown_path(path)


class ReadableText(NamedTuple):
    """A text that ``read_grammar`` takes as one of ``language``."""

    source: "Source"
    language: "Language"
    losses: "tuple[Diagnostic, ...]" = ()


def as_kbnf(grammar: "Grammar") -> ReadableText:
    """Return the text of a schema, which has no rules, as KBNF."""
    from kbnf_core.languages import KBNF
    from kbnf_core.text.source import Source

    source = Source(grammar.to_kbnf(), kbnf_name(grammar.source.name))
    return ReadableText(source, KBNF, grammar.losses)


def kbnf_name(name: str) -> str:
    """Return the name of the KBNF that a file with a schema is shown as."""
    return f"{name} (as KBNF)"


def has_rules(readable: ReadableText) -> bool:
    """Return whether a text consists of rules, as those of schemas and lists of tools do not."""
    return readable.language.name not in _WITHOUT_RULES


def language_for(text: str, name: str, from_: str | None = None) -> "Language":
    """Return the language of a text: the one that ``--from`` names, or that is detected.

    Stdin is KBNF, unless it was given a name: what it looks like is a finding then.
    """
    from kbnf_core.languages import KBNF, detect, named

    if from_ is not None:
        return named(from_) or KBNF
    return KBNF if name == UNNAMED else detect(text, name)


def open_any_grammar(
    path: Path,
    name: str,
    start: str | None,
    finish: str | None,
    defaults: Defaults = NO_DEFAULTS,
    vocabulary: "Vocabulary | None" = None,
    schema: Mapping[str, Any] = NO_OPTIONS,
    from_: str | None = None,
    *,
    lossy: bool = True,
    written: ReadableText | None = None,
) -> "Grammar":
    """Return a usable grammar, which messages call ``name``; the caller reports its ``losses``.

    Without ``lossy`` a text with losses is an error. ``written`` is what ``open_written`` returned
    for the file, if it was called: stdin can be read once only.

    ``from_`` is its language, None for the one that is detected. Tokens in a text are those of
    ``vocabulary``; ``schema`` are options of JSON Schemas. Raises ``GrammarError`` for an invalid
    text, ``ArtifactError`` for a damaged artifact, ``SourceError`` for a file that cannot be read.
    """
    from kbnf_core import Grammar

    if is_artifact(path):
        return _open_artifact(path, start, finish)
    source, language, _ = written or open_written(path, name, start, from_)
    return Grammar.read(
        source.text,
        language,
        path=name,
        start=start,
        finish=finish,
        defaults=defaults,
        imports=permitted_imports(),
        vocabulary=vocabulary,
        lossy=lossy,
        options=own_options(schema, language),
    )


def permitted_imports() -> "Imports":
    """Return which files a grammar may read: those in its folder, or with --allow-outside any."""
    from kbnf_cli.options import OUTSIDE
    from kbnf_core.text.files import ANYWHERE, BELOW

    context = click.get_current_context(silent=True)
    return ANYWHERE if context is not None and context.meta.get(OUTSIDE) else BELOW


def own_options(schema: Mapping[str, Any], language: "Language") -> Mapping[str, Any]:
    """Return those of the options of schemas and lists of tools that a language has."""
    return {name: value for name, value in schema.items() if name in language.options}


def refuse_schema_options(schema: Mapping[str, Any], name: str, language: "Language") -> None:
    """Raise ``ConfigError`` where an option was given that a language does not have."""
    from kbnf_core.languages import JSON_SCHEMA, LARK

    owners = {
        **dict.fromkeys(JSON_SCHEMA.options, "JSON Schemas"),
        **dict.fromkeys(LARK.options, "Lark"),
    }
    for option in schema.keys() - set(language.options):
        owner = owners.get(option, "lists of tools")
        flag = option.replace("_", "-")
        raise ConfigError(f"--{flag} is for {owner}; {name} is {language.name}")


def open_written(
    path: Path, name: str, start: str | None, from_: str | None = None
) -> ReadableText:
    """Return the text of a grammar as it is written, and its language; an artifact's own text.

    Raises what ``open_any_grammar`` raises.
    """
    if is_artifact(path):
        return _text_inside(path, start)
    source = read_text(path, name)
    return ReadableText(source, language_for(source.text, name, from_))


def _text_inside(path: Path, start: str | None) -> ReadableText:
    """Return the text that an artifact was made of; as KBNF where it imports other files."""
    from kbnf_core.artifact.manifest import read_text
    from kbnf_core.languages import KBNF, named
    from kbnf_core.text.source import Source

    source, manifest = read_text(path)
    _check_start(path, start, manifest.start)
    language = named(manifest.language or KBNF.name) or KBNF
    if not language.imports_in(source.text):
        return ReadableText(source, language)
    return ReadableText(Source(_open_artifact(path, start, None).to_kbnf(), source.path), KBNF)


def read_whole(
    readable: ReadableText, start: str | None, vocabulary: "Vocabulary | None" = None
) -> "Reading":
    """Read a text, and what it imports; what it says of tokens, it says of ``vocabulary``.

    Raises ``GrammarError`` for a text with errors.
    """
    from kbnf_core.frontend import read_grammar
    from kbnf_core.kbnf.parsed import Request

    imports = permitted_imports()
    request = Request(start, imports=imports, vocabulary=vocabulary, lossy=True)
    reading = read_grammar(readable.source, readable.language, request)
    if reading.errors:
        raise GrammarError(reading.errors)
    return reading


def lacks_vocabulary(reading: "Reading") -> bool:
    """Return whether a text takes tokens of a vocabulary that is not known."""
    return any(loss.code == "W405" for loss in reading.losses)


def note_vocabulary(console: Console, reading: "Reading") -> None:
    """Say that a text takes tokens where no vocabulary was named."""
    if lacks_vocabulary(reading):
        name = reading.parsed.source.name
        console.note(f"{name} takes tokens of a vocabulary, here bytes: name it with --vocab")


def read_text_or_artifact(path: Path, name: str) -> "Source":
    """Return the text of a file, or the KBNF that an artifact was compiled from.

    Raises what ``open_any_grammar`` raises.
    """
    from kbnf_core.text.source import Source

    if is_artifact(path):
        return Source(_open_artifact(path, None, None).to_kbnf(), name)
    return read_text(path, name)


def is_artifact(path: Path) -> bool:
    """Return whether a path is that of a compiled grammar, by its name."""
    from kbnf_core.artifact import SUFFIX

    return path.suffix == SUFFIX


def _open_artifact(path: Path, start: str | None, finish: str | None) -> "Grammar":
    from kbnf_core.compiled import load_artifact
    from kbnf_core.config import Finish

    grammar = load_artifact(path)
    _check_start(path, start, grammar.start)
    if finish is not None:
        grammar.finish = Finish.parse(finish)
    return grammar


def _check_start(path: Path, start: str | None, compiled: str) -> None:
    if start is not None and start != compiled:
        raise ConfigError(f"{path} was compiled with the start {compiled}; compile it again")


BUILT_IN = "bytes"


@dataclass(frozen=True, kw_only=True)
class FileInputs:
    """The values of the options that ``options.file_options`` and ``config_options`` add."""

    exclude: tuple[str, ...]
    extend_exclude: tuple[str, ...]
    force_exclude: bool
    config_file: Path | None
    isolated: bool

    def choice(self, extensions: Collection[str]) -> FileChoice:
        """Return which files in directories are grammars in the languages of ``extensions``."""
        configured = settings_source(self.config_file, self.isolated)
        asked = self.file_settings
        return FileChoice(
            extensions,
            lambda file: asked.over(configured(file)),
            _from_here(self.extend_exclude),
        )

    def options_for(self, file: Path, language: "Language") -> Mapping[str, Any]:
        """Return the options that are configured for a file, of those that its language has."""
        settings = settings_source(self.config_file, self.isolated)(file)
        return own_options(settings.options or {}, language)

    @property
    def file_settings(self) -> Settings:
        """The settings of options rather than of a configuration file."""
        return Settings(exclude=_from_here(self.exclude), force_exclude=self.force_exclude or None)


def _from_here(lines: tuple[str, ...]) -> IgnorePatterns | None:
    return IgnorePatterns(Path.cwd().resolve(), lines) if lines else None


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """The values of the options that ``options.input_options`` adds."""

    vocab: str | None = None
    eos: tuple[int, ...] = ()
    start: str | None = None
    finish: str | None = None
    from_: str | None = None
    config_file: Path | None = None
    isolated: bool = False
    stdin_filename: Path | None = None
    schema: Mapping[str, Any] = field(default_factory=dict)

    reads_several: ClassVar[bool] = False
    """Whether there may be grammars in other languages beside schemas."""

    def name_of(self, path: Path) -> Path:
        """Return the name of a file: stdin's name for ``-``, a shipped grammar by its own."""
        return name_of(path, self.stdin_filename)

    def settings_source(self) -> SettingsFor:
        """Return the source of settings; raises the errors of ``config.settings_source``."""
        return settings_source(self.config_file, self.isolated)

    def grammar(
        self,
        path: Path,
        vocabulary: "Vocabulary | None",
        *,
        lossy: bool = True,
        written: ReadableText | None = None,
    ) -> "Grammar":
        """Return the grammar in a file, with the arguments and errors of ``open_any_grammar``.

        Without a vocabulary it is that of texts.
        """
        name, settings = self.name_of(path), self._settings(path)
        options = dict(self.schema_for(path))
        if vocabulary is None:
            options.pop("token_markers", None)
        result = open_any_grammar(
            path,
            name.as_posix(),
            self.start,
            self.finish,
            settings.defaults,
            vocabulary,
            options,
            self._from(path),
            lossy=lossy,
            written=written,
        )
        if self.start is not None and result.language.name in _WITHOUT_RULES:
            raise ConfigError(
                f"--start is for grammars with rules; {name} is {result.language.name}"
            )
        if not self.reads_several:
            refuse_schema_options(self.schema, self.name_of(path).as_posix(), result.language)
        return result

    def text(self, path: Path) -> ReadableText:
        """Return the text of the grammar in a file; of a schema, which has no rules, its KBNF.

        Raises what ``open_any_grammar`` raises.
        """
        written = self.written(path)
        return written if has_rules(written) else as_kbnf(self.grammar(path, None, written=written))

    def written(self, path: Path) -> ReadableText:
        """Return the text of the grammar in a file as it is written, also of a schema."""
        name = self.name_of(path).as_posix()
        result = open_written(path, name, self.start, self._from(path))
        refuse_schema_options(self.schema, name, result.language)
        return result

    def schema_for(self, path: Path) -> Mapping[str, Any]:
        """Return the options of languages for a file: those given, then those configured."""
        return {**(self._settings(path).options or {}), **self.schema}

    def _settings(self, path: Path) -> Settings:
        return self.settings_source()(self.name_of(path))

    def _from(self, path: Path) -> str | None:
        return self.from_ or self._settings(path).from_

    def vocabulary(self, settings: Settings) -> tuple[str, tuple[int, ...]]:
        """Return the name of the vocabulary and its stop ids, as ``read_vocabulary`` takes them."""
        name = self.vocab or settings.vocab or BUILT_IN
        if self.schema.get("token_markers") and name == BUILT_IN:
            raise ConfigError("--token-markers needs --vocab: a marker is a token of a model")
        return name, self.eos or settings.eos or ()


def open_engine(
    console: Console,
    inputs: Inputs,
    grammar: Path,
    *,
    canonical: bool = False,
    of_texts: bool = False,
) -> "Engine":
    """Return an engine for a grammar as options ask for it; report the losses of its conversion.

    ``of_texts``: it reads texts (``Grammar.of_texts``).
    """
    from kbnf_core import Engine

    settings = inputs.settings_source()(inputs.name_of(grammar))
    vocabulary = read_vocabulary(console, *inputs.vocabulary(settings))
    grammar_ = inputs.grammar(grammar, vocabulary)
    console.diagnostics(grammar_.losses)
    return Engine(grammar_.of_texts if of_texts else grammar_, vocabulary, canonical=canonical)


def read_vocabulary(console: Console, name: str, eos: Sequence[int]) -> "Vocabulary":
    """Return the vocabulary called ``bytes``, or the one in a file or of a cached model.

    ``eos``, unless empty, replaces the stop ids. Raises what ``vocabulary_file`` and
    ``load_vocabulary`` raise.
    """
    from kbnf_core.vocab.load import load_vocabulary
    from kbnf_core.vocab.vocabulary import Vocabulary

    if name == BUILT_IN:
        built_in = Vocabulary.bytes()
        if not eos:
            return built_in
        return Vocabulary(built_in.tokens, eos_token_id=eos, name=built_in.name)
    file = vocabulary_file(name)
    with console.busy(f"loading {file.name}"):
        return load_vocabulary(file, eos or None)


def vocabulary_file(name: str) -> Path:
    """Return the file, or folder, of a vocabulary; of a model's name, in Hugging Face's cache.

    An existing path wins. Raises ``SourceError`` for any other name, with similar ones.
    """
    path = Path(name)
    if os.path.lexists(path):
        return path
    from kbnf_core.vocab.files import cached_vocabulary, hub_folder

    result = cached_vocabulary(name)
    if result is not None:
        return result
    near = _similar_vocabulary(path)
    hint = f"did you mean `{near}`?" if near else "nothing is downloaded"
    raise SourceError(name, f"no such file, nor a model of that name in {hub_folder()}; {hint}")


def _similar_vocabulary(path: Path) -> str | None:
    """Return the name that a misspelt one resembles: a model's, a file's beside it, or `bytes`."""
    from kbnf_core.text.suggest import Suggestions
    from kbnf_core.vocab.files import cached_models

    names = {BUILT_IN: BUILT_IN}
    with suppress(OSError):
        names |= {str(path.parent / entry.name): str(entry) for entry in path.parent.iterdir()}
    for model in cached_models():
        names |= {model: model, model.rpartition("/")[2]: model}
    near = Suggestions(names).closest(str(path))
    return None if near is None else names[near]


def schema_of_model(name: str, *, for_engines: bool = False) -> str:
    """Return the JSON Schema, as text, of a class named ``module:Class``.

    The module is looked for in the current directory, too. ``for_engines``: as pydantic gives it
    to other engines, with ``uniqueItems`` where we need not keep it. Raises
    ``ClickException`` where it cannot be imported, or its class has no schema.
    """
    from kbnf_core.languages.json_schema.language import schema_text

    module, _, path = name.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        with _printing_to_stderr():
            value: Any = import_module(module)
            for attribute in path.split("."):
                value = getattr(value, attribute)
    except (Exception, SystemExit) as error:
        # Any error of the module is the answer to the caller that named it.
        is_file = module.endswith(".py")
        right = f"name the module, not its file: `{module.removesuffix('.py')}:{path}`"
        why = right if is_file else _sentence(error)
        raise click.ClickException(f"cannot import {name}: {why}") from error
    try:
        with _printing_to_stderr():
            text = schema_text(value, lossless=not for_engines)
        return json.dumps(json.loads(text), indent=2) + "\n"
    except (KbnfError, ValueError) as error:
        raise click.ClickException(f"{name}: {error}") from error


def of_model(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of JSON Schemas for the one of a class, which were given or not."""
    return JSON_SCHEMA.options_of(object, schema)


@contextmanager
def _printing_to_stderr() -> Iterator[None]:
    """Keep stdout for the result: the prints of a module are for its user.

    Nor does it end this process at once, with a status of its own.
    """
    leave = os._exit
    os._exit = _end
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os._exit = leave


def _end(status: int) -> NoReturn:
    raise SystemExit(status)


def is_class(text: str) -> bool:
    """Return whether a text names a class, and no file."""
    is_file = text.startswith("builtin:") or Path(text).exists()
    return is_model_name(text) and not is_file


GRAMMAR_OR_CLASS = GrammarOr("FILE", is_class)
"""A path, the name of a shipped grammar, or ``module:Class``."""


def _sentence(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"it ends the process with the status {error.code}"
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
