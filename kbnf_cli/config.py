"""Settings from ``kbnf.toml``, or ``[tool.kbnf]`` in ``pyproject.toml``; the nearest file wins.

Each file that is read has the settings of its own folder, so one run over many directories may
use several configuration files. The other options of a command are in a table of its name, of the
nearest file to the current folder: ``[sample]`` with ``number = 5``. Options on the command line
take precedence over all of them.

Keys are the names of options without their hyphens. Those of options of commands are not listed
here: they are read, and refused, as the option itself reads them.

Tests: tests/cli/test_config.py, tests/cli/test_options.py
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import translate
from functools import cache, partial
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import click

from kbnf_cli.files import IgnorePatterns
from kbnf_cli.options import (
    CONFIGURATION,
    NAMES,
    CallFormat,
    common_options,
    from_option,
    options_in,
    schema_options,
)
from kbnf_core.config import Defaults, Finish
from kbnf_core.lint import TARGETS
from kbnf_core.targets import ALL, ENGINE_NAMES, HOST_NAMES, SERVICE_NAMES
from kbnf_core.text.diagnostics import Severity
from kbnf_core.text.diagnostics.catalogue import Selection, normalise_selector
from kbnf_core.text.errors import ConfigError, KbnfError
from kbnf_core.text.files import read_file
from kbnf_core.text.locks import cached_property


class FileIgnores:
    """Prefixes of codes to ignore, by patterns of names, or of paths from ``directory``.

    Patterns with the same prefixes are one regular expression, which is compiled once; those
    without signs are looked up.
    """

    def __init__(self, directory: str, entries: Mapping[str, tuple[str, ...]]) -> None:
        self.entries = entries
        self._directory = directory
        self._words: dict[str, tuple[str, ...]] = {}
        self._patterns: dict[tuple[str, ...], list[str]] = {}
        for pattern, prefixes in entries.items():
            if _SIGNS.isdisjoint(pattern):
                self._words[pattern] = prefixes
            else:
                self._patterns.setdefault(prefixes, []).append(pattern)

    def prefixes_for(self, file: Path) -> Iterator[str]:
        """Yield the codes that are ignored in ``file``."""
        path = file.absolute().as_posix()
        names = {file.name}
        if path.startswith(f"{self._directory}/"):
            names.add(path.removeprefix(f"{self._directory}/"))
        for name in names:
            yield from self._words.get(name, ())
            for prefixes, matcher in self._matchers.items():
                if matcher.match(name):
                    yield from prefixes

    @cached_property
    def _matchers(self) -> dict[tuple[str, ...], re.Pattern[str]]:
        return {
            prefixes: re.compile("|".join(map(translate, patterns)))
            for prefixes, patterns in self._patterns.items()
        }


_SIGNS = frozenset("*?[")


class Table(NamedTuple):
    """The table of a command in a configuration file."""

    values: Mapping[str, Any]
    file: Path
    text: str


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a configuration file; None for those that it leaves out.

    ``select``, ``extend_select`` and ``ignore`` are prefixes of codes. ``vocab`` is ``bytes``
    or a path, relative paths being taken from the configuration file's directory.
    ``per_file_ignores`` are patterns of a name, or of a path from that directory, with prefixes
    of codes. ``targets``, ``max_states`` and ``max_mask_work`` are those of ``lint.options``.
    ``extend`` is the file whose settings apply where this one says nothing.
    ``start`` and ``finish`` are for grammars in KBNF that set none. ``exclude``, ``extend_exclude``
    and ``include`` choose among the entries of directories, ``force_exclude`` among named files.
    ``options`` are those of languages and of the console, by the names of their parameters, and
    ``commands`` the tables of commands.
    """

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    fail_on: Severity | None = None
    vocab: str | None = None
    eos: tuple[int, ...] | None = None
    targets: tuple[str, ...] | None = None
    max_states: int | None = None
    max_mask_work: int | None = None
    per_file_ignores: FileIgnores | None = None
    start: str | None = None
    finish: Finish | None = None
    exclude: IgnorePatterns | None = None
    extend_exclude: IgnorePatterns | None = None
    include: IgnorePatterns | None = None
    force_exclude: bool | None = None
    extend: str | None = None
    options: Mapping[str, Any] | None = None
    commands: Mapping[str, "Table"] | None = None

    @property
    def defaults(self) -> Defaults:
        """The start and finish of grammars without settings of their own."""
        return Defaults(self.start, self.finish)

    @property
    def from_(self) -> str | None:
        """The language of all files, None for those that are detected."""
        return (self.options or {}).get("from_")

    @property
    def selection(self) -> Selection:
        """Which codes to report, in files that have no rules of their own."""
        select = ("",) if self.select is None else self.select
        return Selection((*select, *(self.extend_select or ())), self._ignored)

    @property
    def _ignored(self) -> tuple[str, ...]:
        """The ignored codes, with the codes on request that no selector names."""
        named = (*(self.select or ()), *(self.extend_select or ()))
        quiet = (code for code in ON_REQUEST if not any(e and code.startswith(e) for e in named))
        return (*(self.ignore or ()), *quiet)

    def selection_for(self, file: Path) -> Selection:
        """Return which codes to report in ``file``."""
        if self.per_file_ignores is None:
            return self.selection
        more = self.per_file_ignores.prefixes_for(file)
        return replace(self.selection, ignore=(*self._ignored, *more))

    def lines(self) -> Iterator[str]:
        """Yield the settings, as lines of a configuration file."""
        for key in KEYS:
            name = _FIELDS.get(key, key.replace("-", "_"))
            value = (self.options or {}).get(name) if key in _OPTIONS else getattr(self, name)
            if value is not None:
                yield f"{key} = {_shown(value)}"

    def over(self, other: "Settings") -> "Settings":
        """Return these settings, with those of ``other`` where these say nothing."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        own = {name: value for name, value in values.items() if value is not None}
        for name in ("options", "commands"):
            own[name] = {**(getattr(other, name) or {}), **(own.get(name) or {})} or None
        return replace(other, **own)


ON_REQUEST = ("I309",)
"""Codes that are reported only where a selector names them or a prefix of them."""

_LARGEST = 2**26
"""Bytes of a configuration file."""

SettingsFor: TypeAlias = Callable[[Path], Settings]
"""Gives the settings that apply to a file (which need not exist)."""


def settings_source(config_file: Path | None, isolated: bool) -> SettingsFor:
    """Return the source of the settings: none, one file, or the nearest file.

    Raises ``ConfigError`` if both options are given, and, like the source itself, for an
    unknown key, an impossible value or bad TOML; ``SourceError`` if the file cannot be read.
    """
    if isolated and config_file is not None:
        raise ConfigError("--config and --isolated exclude each other")
    if isolated:
        return lambda _: Settings()
    if config_file is not None:
        settings = _read_extended(config_file)
        return lambda _: Settings() if settings is None else settings
    nearest = cache(partial(_nearest, cache(_read_extended)))
    return lambda file: nearest(file.absolute().parent)


def _nearest(read: "Callable[[Path], Settings | None]", directory: Path) -> Settings:
    for parent in (directory, *directory.parents):
        for name in CONFIGURATION:
            file = parent / name
            settings = read(file) if os.path.lexists(file) else None
            if settings is not None:
                return settings
    return Settings()


def _read_extended(file: Path) -> Settings | None:
    """Return the settings in a file, over those of the files that it extends."""
    settings = base = _read(file)
    seen = {file.resolve()}
    while settings is not None and base is not None and base.extend is not None:
        file = Path(base.extend)
        if file.resolve() in seen:
            raise ConfigError(f"{file}: `extend` leads back to this file")
        seen.add(file.resolve())
        base = _read(file)
        if base is None:
            raise ConfigError(f"{file}: it has no [tool.kbnf] to extend")
        settings = settings.over(base)
    return settings


def command_defaults(
    context: click.Context, name: str, command: click.Command, arguments: Sequence[str]
) -> dict[str, Any]:
    """Return the values that configuration gives the parameters of a command.

    Its file is the one that ``arguments`` name, or the nearest to the current folder. Raises what
    ``settings_source`` and its source raise; of a command without ``--config`` only for its own
    table.
    """
    own = {option.name: option for option in command.params if isinstance(option, click.Option)}
    given = click.Context(command, parent=context, resilient_parsing=True)
    has_config = "config_file" in own
    named, isolated = None, False
    if has_config:
        values, _, _ = command.make_parser(given).parse_args(list(arguments))
        named, isolated = values.get("config_file"), bool(values.get("isolated"))
    try:
        file = None if named is None else Path(named)
        settings = settings_source(file, isolated)(Path("entry"))
    except KbnfError:
        if has_config:
            raise
        return {}
    result = {
        option: default
        for option, default in (settings.options or {}).items()
        if option in _CONSOLE
    }
    keys = keys_of(command)
    table = (settings.commands or {}).get(name, Table({}, Path(), ""))
    for key, value in table.values.items():
        if key not in keys:
            above = "it is set above all tables" if key in KEYS else _similar(key, tuple(keys))
            message = f"`[{name}]` has no key `{key}`; {above}"
            raise ConfigError(f"{table.file}{_position(table.text, key, name)}: {message}")
        try:
            result[str(keys[key].name)] = _of_option(keys[key], value, table.file.parent)
        except ValueError as error:
            where = f"{table.file}{_position(table.text, key, name)}"
            raise ConfigError(f"{where}: `{key}`: {error}") from error
    return result


def keys_of(command: click.Command) -> dict[str, click.Option]:
    """Return the options that the table of a command may set, by their keys."""
    result = {
        key_of(option): option for option in command.params if isinstance(option, click.Option)
    }
    return {
        key: option
        for key, option in result.items()
        if key not in KEYS and key not in _ONLY_TYPED and not option.is_eager
    }


_ONLY_TYPED = ("config", "isolated", "stdin-filename", "show-settings", "indenter")
"""Options that say which settings there are, and the one that imports a module: the settings of a
folder that was fetched must not run its code."""


def key_of(option: click.Option) -> str:
    """Return the key that sets an option."""
    long = (name.removeprefix("--") for name in option.opts if name.startswith("--"))
    return next(long, str(option.name))


def _read(file: Path) -> Settings | None:
    """Return the settings in a file, None for a pyproject.toml that has no section of ours."""
    import tomllib

    try:
        text = read_file(file, _LARGEST).decode("utf-8")
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: {error}") from error
    if file.name == "pyproject.toml":
        document = document.get("tool", {}).get("kbnf")
    return None if document is None else _parse(document, file, text)


def _parse(table: Any, file: Path, text: str) -> Settings:
    if not isinstance(table, Mapping):
        raise ConfigError(f"{file}: [tool.kbnf] is not a table")
    values: dict[str, Any] = {}
    options: dict[str, Any] = {}
    commands: dict[str, Any] = {}
    for key, value in table.items():
        if key in NAMES and isinstance(value, Mapping):
            commands[key] = Table(value, file, text)
            continue
        if key not in _PARSERS:
            allowed = NAMES if isinstance(value, Mapping) else KEYS
            message = f"unknown key `{key}`; {_similar(key, allowed)}"
            raise ConfigError(f"{file}{_position(text, key)}: {message}")
        target = options if key in _OPTIONS else values
        try:
            target[_FIELDS.get(key, key.replace("-", "_"))] = _PARSERS[key](value, file.parent)
        except ValueError as error:
            raise ConfigError(f"{file}{_position(text, key)}: `{key}`: {error}") from error
    return Settings(**values, options=options or None, commands=commands or None)


def _position(text: str, key: str, table: str = "") -> str:
    """Return the line and column of a key in a file, as `:LINE:COLUMN`; nothing for odd spellings.

    The library that reads TOML does not know.
    """
    head = rf"(?:tool\.kbnf\.?)?{re.escape(table)}"
    within = re.search(rf"(?m)^[ \t]*\[{head}\]", text)
    pattern = re.compile(rf"""(?m)^[ \t]*(?:\[(?:tool\.kbnf\.)?)?["']?({re.escape(key)})\b""")
    match = pattern.search(text, within.end() if within else 0)
    if match is None:
        return ""
    before = text[: match.start(1)]
    return f":{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def _of_option(option: click.Option, value: Any, directory: Path) -> Any:
    """Return the value of an option; raises ValueError as the command line refuses it."""
    many = value if isinstance(value, list) else [value]
    if option.is_flag:
        if not isinstance(value, bool):
            raise ValueError("true or false is needed")
    elif isinstance(value, list) and not option.multiple:
        raise ValueError("one value is needed")
    elif any(isinstance(element, bool | Mapping | list) for element in many):
        raise ValueError("a text or a number is needed")
    if isinstance(value, float):
        if not isfinite(value):
            raise ValueError("a finite number is needed")
        # As text, so that a value other than a whole number is refused where one is needed.
        value = str(value)
    if isinstance(option.type, click.Path | CallFormat):
        there = [str(directory / str(element)) for element in many]
        paths = zip(there, many, strict=True)
        many = [path if os.path.lexists(path) else str(element) for path, element in paths]
        value = many if option.multiple else many[0]
    try:
        return option.type_cast_value(click.Context(click.Command("kbnf")), value)
    except click.BadParameter as error:
        raise ValueError(error.message.removesuffix(".")) from error


def _selectors(value: Any, _: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("a list of codes is needed")
    return tuple(map(normalise_selector, value))


def _severity(value: Any, _: Path) -> Severity:
    for severity in Severity:
        if value == severity.label:
            return severity
    raise ValueError("error, warning or info is needed")


def _vocabulary(value: Any, directory: Path) -> str:
    if not isinstance(value, str):
        raise ValueError("`bytes` or the path of a file is needed")
    if value == "bytes" or os.path.lexists(directory / value):
        return value if value == "bytes" else str(directory / value)
    from kbnf_core.vocab.files import cached_vocabulary

    return str(directory / value if cached_vocabulary(value) is None else value)


def _token_ids(value: Any, _: Path) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(item) is int and item >= 0 for item in value):
        raise ValueError("a list of token ids is needed")
    return tuple(value)


TARGET_NAMES = (*dict.fromkeys((*ENGINE_NAMES, *TARGETS, *HOST_NAMES, *SERVICE_NAMES)), ALL)
"""The values of `--target`."""


def _targets(value: Any, _: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(item in TARGET_NAMES for item in value):
        raise ValueError(f"a list of engines is needed, out of {', '.join(TARGET_NAMES)}")
    return tuple(value)


def _name(value: Any, _: Path) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("the name of a nonterminal is needed")
    return value


def _finish(value: Any, _: Path) -> Finish:
    if value not in [member.value for member in Finish]:
        raise ValueError("eager, token or eos is needed")
    return Finish(value)


def _count(value: Any, _: Path) -> int:
    if type(value) is not int or value < 1:
        raise ValueError("a number above 0 is needed")
    return value


def _patterns(value: Any, directory: Path) -> IgnorePatterns:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("a list of patterns, as in a .gitignore, is needed")
    patterns = IgnorePatterns(directory.resolve(), tuple(value))
    patterns.compile()
    return patterns


def _flag(value: Any, _: Path) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false is needed")
    return value


def _file(value: Any, directory: Path) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("the path of a configuration file is needed")
    return str(directory / value)


def _per_file_ignores(value: Any, directory: Path) -> FileIgnores:
    if not isinstance(value, Mapping):
        raise ValueError("a table of patterns with lists of codes is needed")
    entries = {pattern: _selectors(codes, directory) for pattern, codes in value.items()}
    return FileIgnores(directory.absolute().as_posix(), entries)


_PARSERS: dict[str, Callable[[Any, Path], Any]] = {
    "select": _selectors,
    "extend-select": _selectors,
    "ignore": _selectors,
    "fail-on": _severity,
    "vocab": _vocabulary,
    "eos": _token_ids,
    "target": _targets,
    "max-states": _count,
    "max-mask-work": _count,
    "per-file-ignores": _per_file_ignores,
    "start": _name,
    "finish": _finish,
    "exclude": _patterns,
    "extend-exclude": _patterns,
    "include": _patterns,
    "force-exclude": _flag,
    "extend": _file,
}

_OPTIONS = {
    key_of(option): option for option in options_in(from_option, schema_options, common_options)
}
"""Options of languages and of the console, which are read as the command line reads them."""

_PARSERS |= {
    key: partial(_of_option, option) for key, option in _OPTIONS.items() if key not in _ONLY_TYPED
}

_CONSOLE = frozenset(str(option.name) for option in options_in(common_options))

KEYS = tuple(_PARSERS)
"""The keys of a configuration file, beside the tables of commands."""

_FIELDS = {"target": "targets", "from": "from_"}
"""Keys that are named like an option, where the field is not."""


def _shown(value: Any) -> str:
    """Return a setting in TOML, which has JSON's strings, numbers, booleans and lists."""
    if isinstance(value, FileIgnores):
        pairs = (f"{_shown(pattern)} = {_shown(codes)}" for pattern, codes in value.entries.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, Severity):
        return _shown(value.label)
    if isinstance(value, Finish):
        return _shown(value.value)
    if isinstance(value, tuple):
        # A selector of all codes is an empty prefix.
        value = [code or "ALL" for code in value]
    return json.dumps(
        value.lines if isinstance(value, IgnorePatterns) else value, ensure_ascii=False
    )


def _similar(key: str, candidates: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(key, candidates, n=1)
    return (
        f"did you mean `{near[0]}`?" if near else f"the keys are {', '.join(candidates) or 'none'}"
    )
