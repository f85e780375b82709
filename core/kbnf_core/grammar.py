"""A grammar ready to recognise: read, lowered to tables, and with its caches."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kbnf_core import ir
from kbnf_core.collecting import without_collecting
from kbnf_core.config import NO_DEFAULTS, Defaults, Finish
from kbnf_core.diagnostics import Diagnostic, Severity, decode, unreadable
from kbnf_core.errors import ConfigError, EmptyGrammarError, GrammarError, WorkLimitError
from kbnf_core.files import read_file
from kbnf_core.frontend import Reading, read_grammar, too_large, too_much_work
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.lower.build import PlainTables, build_plain_tables, build_tables
from kbnf_core.lower.nfa import TooManyStatesError
from kbnf_core.source import Source
from kbnf_core.syntax.printer import quote

if TYPE_CHECKING:
    from kbnf_core.lower.analyse import Analysis
    from kbnf_core.lower.inline import Inlined
    from kbnf_core.lower.tables import Tables
    from kbnf_core.mask.token_automaton import StoredMemo, TokenAutomata
    from kbnf_core.vocab.vocabulary import Vocabulary

T = TypeVar("T")


class Grammar:
    """A KBNF grammar, immutable but for its caches; engines and threads may share one.

    ``start`` and ``finish`` win over the grammar's pragmas, and these over ``defaults``; ``path``
    is for messages only.
    Raises ``GrammarError`` with all findings, ``EmptyGrammarError`` where no text, or only the
    empty one, matches.
    """

    _write: Callable[[], str]

    def __init__(
        self,
        text: str,
        *,
        start: str | None = None,
        finish: Finish | str | None = None,
        path: str | None = None,
        limits: Limits = DEFAULT_LIMITS,
        defaults: Defaults = NO_DEFAULTS,
    ) -> None:
        self.__dict__["source"] = Source(text, path)
        self._limits = limits
        self._wanted = (start, None if finish is None else Finish.parse(finish))
        self._defaults = defaults
        _usable(self.reading)
        self.start = self.reading.start
        self.finish = self.reading.finish
        self._stored: StoredMemo | None = None

    @classmethod
    def from_regex(cls, pattern: str, *, limits: Limits = DEFAULT_LIMITS) -> "Grammar":
        """Return the grammar of the texts that a regular expression matches as a whole.

        The expression is one of KBNF's; the model ends the text. Raises ``GrammarError`` for one
        that cannot be used, ``ConfigError`` for what is no text.
        """
        if not isinstance(pattern, str):
            raise ConfigError(f"a regular expression is a text, not {pattern!r}"[:200])
        _refuse_unreadable(pattern, limits)
        return cls(f"start ::= #{quote(pattern)};\n", finish=Finish.EOS, limits=limits)

    @classmethod
    def from_choice(cls, choices: Iterable[str], *, limits: Limits = DEFAULT_LIMITS) -> "Grammar":
        """Return the grammar of some texts, one of which is written; the model ends it.

        Raises ``GrammarError`` for texts that cannot be used, ``ConfigError`` for none, and for
        what is no list of texts.
        """
        texts = choice_texts(choices)
        for text in texts:
            _refuse_unreadable(text, limits)
        body = " | ".join(map(quote, texts))
        return cls(f"start ::= {body};\n", finish=Finish.EOS, limits=limits)

    @classmethod
    def restore(
        cls,
        source: Source,
        start: str,
        finish: Finish,
        tables: "Tables",
        stored: "StoredMemo | None",
        limits: Limits = DEFAULT_LIMITS,
    ) -> "Grammar":
        """Return a grammar that was compiled earlier; its text is read only when it is asked for.

        For loaders of artifacts: ``tables`` and ``stored`` are taken as they are.
        """
        grammar = object.__new__(cls)
        grammar.__dict__["source"] = source
        grammar.start = start
        grammar.finish = finish
        grammar._limits = limits
        grammar._wanted = (start, finish)
        grammar._defaults = NO_DEFAULTS
        grammar._stored = stored
        grammar.__dict__["tables"] = tables
        return grammar

    @classmethod
    def of_rules(
        cls,
        rules: ir.Grammar,
        analysis: "Analysis",
        finish: Finish,
        write: Callable[[], str],
        limits: Limits = DEFAULT_LIMITS,
    ) -> "Grammar":
        """Return a grammar that was made by a program; ``write`` returns its text when needed.

        The text must have the language of ``rules``, and ``start`` and ``finish`` for settings.
        """
        grammar = object.__new__(cls)
        grammar.start = rules.start
        grammar.finish = finish
        grammar._limits = limits
        grammar._wanted = (rules.start, finish)
        grammar._defaults = NO_DEFAULTS
        grammar._stored = None
        grammar._write = write
        grammar.__dict__["_rules"] = (rules, analysis)
        return grammar

    @classmethod
    def from_json_schema(
        cls,
        schema: object,
        *,
        whitespace: str | None = None,
        order: str = "declared",
        lossy: bool = False,
        **options: Any,
    ) -> "Grammar":
        """Return the grammar of the JSON texts that a schema allows.

        ``schema`` is a dict, a bool, a text, a pydantic model or a type for which pydantic makes a
        schema: a dataclass, a ``TypedDict``, ``list[int]``.

        ``whitespace`` is ``bounded`` (the default), ``flexible`` or ``compact``, ``order`` is
        ``declared`` or ``any``; ``options`` are the other fields of ``Options`` in
        ``kbnf_core.languages.json_schema``. Raises ``GrammarError`` for a schema that is
        malformed, cannot be satisfied or, unless ``lossy``, kept as a whole.
        """
        from kbnf_core.convert import json_schema_grammar, schema_options, schema_text

        wanted = {**options, "whitespace": whitespace, "order": order, "lossy": lossy}
        return json_schema_grammar(schema_text(schema), schema_options(**wanted))

    @classmethod
    def from_gbnf(cls, text: str, *, lossy: bool = False, **options: Any) -> "Grammar":
        """Return the grammar of a GBNF text; ``options`` are those of ``convert.from_gbnf``.

        Raises ``GrammarError`` for a text with errors and, unless ``lossy``, for one that cannot
        be kept as a whole.
        """
        return cls._from("GBNF", text, lossy, options)

    @classmethod
    def from_bnf(cls, text: str, *, lossy: bool = False, **options: Any) -> "Grammar":
        """Return the grammar of a text of bnf_sampler, as ``from_gbnf`` does.

        With ``vocabulary``, ``<any!>`` and ``<except!(..)>`` stand for its tokens.
        """
        return cls._from("BNF", text, lossy, options)

    @classmethod
    def from_lark(cls, text: str, *, lossy: bool = False, **options: Any) -> "Grammar":
        """Return the grammar of a Lark text, or of LLGuidance's list of grammars."""
        return cls._from("Lark", text, lossy, options)

    @classmethod
    def from_structural_tag(
        cls, tag: Mapping[str, Any] | str | Any, *, lossy: bool = False, **options: Any
    ) -> "Grammar":
        """Return the grammar of a structural tag: a dict, a text of JSON, or an object of XGrammar.

        ``options`` are those of ``convert.from_structural_tag``, ``vocabulary`` among them. Raises
        ``GrammarError`` for a tag with errors and, unless ``lossy``, one that cannot be kept.
        """
        return cls._from("Structural tag", tag_text(tag), lossy, options)

    @classmethod
    def from_file(
        cls, path: str | Path, *, lossy: bool = False, limits: Limits = DEFAULT_LIMITS
    ) -> "Grammar":
        """Return the grammar of a file in any language that is read, also of a JSON Schema.

        The language is that of the extension, or what the content says.
        """
        from kbnf_core.convert import detect

        content = read_file(path, limits.source_bytes)
        text, invalid = decode(content, str(path), limits.source_bytes)
        if invalid is not None:
            raise GrammarError([invalid])
        language = detect(text.text, str(path))
        if language == "KBNF":
            return cls(text.text, path=str(path), limits=limits)
        if language == "JSON Schema":
            return cls.from_json_schema(text.text, lossy=lossy)
        return cls._from(language, text.text, lossy, {"path": str(path), "limits": limits})

    @classmethod
    def from_store(
        cls, url: str | Path, source: Any, vocabulary: "Vocabulary | None", **options: Any
    ) -> "Grammar":
        """Return the grammar of a source with its masks over a vocabulary, out of a store.

        ``source`` is a text in any language, a ``Path``, or a JSON Schema as a value; ``options``
        are those of ``store.recipe_of``. What the store has not is compiled, once on a machine, and
        put there. Raises ``GrammarError`` for a source that cannot be used, also where the store
        remembers that; damage, and a store out of reach, are a ``StoreWarning``.
        """
        from kbnf_core.store.making import grammar_from_store

        return grammar_from_store(url, source, vocabulary, **options)

    @classmethod
    def _from(cls, language: str, text: str, lossy: bool, options: dict[str, Any]) -> "Grammar":
        from kbnf_core.convert import converted

        limits = options.get("limits", DEFAULT_LIMITS)
        return cls(converted(language, text, lossy, **options), limits=limits)

    def __copy__(self) -> "Grammar":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Grammar":
        del memo
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the text and the settings in force; caches are not carried."""
        text, path = self.source.text, self.source.path
        return _restore, (type(self), text, self.start, self.finish, path, self._limits)

    @property
    def limits(self) -> Limits:
        """The limits in force."""
        return self._limits

    @cached_property
    def source(self) -> Source:
        """The text."""
        return Source(self._write())

    @cached_property
    def reading(self) -> Reading:
        """The text as it was read, with all findings."""
        return read_grammar(self.source, *self._wanted, self._limits, defaults=self._defaults)

    @cached_property
    def _rules(self) -> tuple[ir.Grammar, "Analysis | None"]:
        return _usable(self.reading), self.reading.analysis

    @property
    def rules(self) -> ir.Grammar:
        """The grammar that the text means."""
        return self._rules[0]

    @cached_property
    def analysis(self) -> "Analysis":
        """What is known of each nonterminal."""
        from kbnf_core.lower.analyse import analyse

        rules, known = self._rules
        return analyse(rules) if known is None else known

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings found while reading."""
        return self.reading.diagnostics

    @cached_property
    def tables(self) -> "Tables":
        """The automata. Raises ``GrammarError`` (E106, E107) where they pass a limit."""
        return self.tables_with(None)

    def tables_with(self, inlined: "Inlined | None") -> "Tables":
        """Return the automata with these nonterminals written out. Raises as ``tables`` does."""
        rules, analysis = self._rules
        build = partial(build_tables, rules, self._limits, analysis, inlined=inlined)
        return self._build(build)

    @cached_property
    def plain_tables(self) -> "PlainTables":
        """The automata for explanations. Raises ``GrammarError`` (E106, E107) past a limit."""
        return self._build(partial(build_plain_tables, _usable(self.reading), self._limits))

    def _build(self, build: Callable[[], T]) -> T:
        try:
            with without_collecting():
                return build()
        except TooManyStatesError as error:
            raise GrammarError([too_large(self.reading, str(error), self._limits)]) from None
        except WorkLimitError as error:
            raise GrammarError([too_much_work(self.reading.document, error)]) from None

    @cached_property
    def token_automata(self) -> "TokenAutomata":
        """The caches, shared by all engines of this grammar."""
        from kbnf_core.mask.token_automaton import TokenAutomata

        return TokenAutomata(lambda: self.tables, self._limits, self._stored)


def tag_text(tag: Mapping[str, Any] | str | Any) -> str:
    """Return the JSON text of a structural tag. Raises ``ConfigError`` for what is not JSON."""
    dump = getattr(tag, "model_dump_json", None)
    written = dump() if callable(dump) else tag
    try:
        return written if isinstance(written, str) else json.dumps(written)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"a structural tag is JSON: {error}"[:200]) from None


def choice_texts(choices: Iterable[str]) -> tuple[str, ...]:
    """Return the texts of a choice, each once. Raises ``ConfigError`` where these are none."""
    if isinstance(choices, str | bytes) or not isinstance(choices, Iterable):
        raise ConfigError(f"a choice is a list of texts, not {choices!r}"[:200])
    texts = tuple(choices)
    for text in texts:
        if not isinstance(text, str):
            raise ConfigError(f"a choice is a list of texts, and {text!r} is none"[:200])
    if not texts:
        raise ConfigError("a choice is between texts: give one at least")
    return tuple(dict.fromkeys(texts))


def _refuse_unreadable(text: str, limits: Limits) -> None:
    """Raise ``GrammarError`` for a text that no grammar can contain."""
    finding = unreadable(Source(text), limits.source_bytes)
    if finding is not None:
        raise GrammarError([finding])


def _restore(
    kind: type[Grammar], text: str, start: str, finish: Finish, path: str | None, limits: Limits
) -> Grammar:
    """Return a grammar that was pickled."""
    return kind(text, start=start, finish=finish, path=path, limits=limits)


def _usable(reading: Reading) -> ir.Grammar:
    """Return the grammar that was read; raise its findings, errors first."""
    if reading.grammar is not None:
        return reading.grammar
    rest = [d for d in reading.diagnostics if d.severity is not Severity.ERROR]
    only_empty = all(error.code == "E105" for error in reading.errors)
    raise (EmptyGrammarError if only_empty else GrammarError)([*reading.errors, *rest])
