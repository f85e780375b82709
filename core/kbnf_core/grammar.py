"""A grammar ready to recognise: read, lowered to tables, and with its caches.

Tests: tests/unit/test_grammars.py, tests/unit/test_grammar_constructors.py
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_origin

from kbnf_core import ir
from kbnf_core.config import NO_DEFAULTS, Config, Defaults, Finish
from kbnf_core.frontend import KBNF, Language, Reading, read_grammar, too_large, too_much_work
from kbnf_core.kbnf.parsed import NO_OPTIONS, Attributes, Request
from kbnf_core.languages import (
    ABNF,
    BNF,
    CHOICE,
    GBNF,
    JSON_SCHEMA,
    LARK,
    REGEX,
    RESPONSE_TEMPLATE,
    STRUCTURAL_TAG,
    TOOL_LIST,
    as_language,
    detect,
    is_structural_tag,
    named,
)
from kbnf_core.lower.build import build_tables
from kbnf_core.lower.nfa import TooManyStatesError
from kbnf_core.shipped import PREFIX, grammar_file, grammar_names
from kbnf_core.text.collecting import without_collecting
from kbnf_core.text.diagnostics import Diagnostic, Severity, decode
from kbnf_core.text.errors import (
    ConfigError,
    EmptyGrammarError,
    GrammarError,
    Status,
    VocabularyError,
    WorkLimitError,
)
from kbnf_core.text.files import BELOW, Imports, read_file
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core.artifact.manifest import VocabularyMark
    from kbnf_core.artifact.read import Stored
    from kbnf_core.kbnf.parsed import Marked
    from kbnf_core.languages.json_schema.parse import SchemaReading
    from kbnf_core.lower.facts import Analysis
    from kbnf_core.lower.inline import Inlined
    from kbnf_core.lower.tables import Tables
    from kbnf_core.mask.ahead import Ahead
    from kbnf_core.mask.completion import Completion
    from kbnf_core.mask.token_automaton import TokenAutomata
    from kbnf_core.parse.parser import Parser
    from kbnf_core.parse.tree import Tree
    from kbnf_core.parse.values import Reader, Readers
    from kbnf_core.repair import Judge, Repair
    from kbnf_core.repair.weights import Weights
    from kbnf_core.text.budget import Budget
    from kbnf_core.vocab.vocabulary import Vocabulary

T = TypeVar("T")

OF_READ = frozenset(
    ("path", "start", "finish", "limits", "imports", "defaults", "vocabulary", "lossy")
)
"""Names of the options of ``Grammar.read`` that every language has."""


class Grammar:
    """A grammar, immutable but for its caches; engines and threads may share one.

    ``text`` is KBNF, or the name of an included grammar, such as ``json`` or ``builtin:json``; the
    ``from_*`` methods read other languages; messages have positions in the text as written.
    ``start`` and ``finish`` win over the grammar's pragmas, and these over ``defaults``; ``path``
    is for messages only.
    Raises ``GrammarError`` with all findings, ``EmptyGrammarError`` where no text, or only the
    empty one, matches.
    """

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
        if not isinstance(text, str):
            raise ConfigError(
                f"a grammar is a text, not a {type(text).__name__}: `Grammar.from_any` takes a"
                " JSON Schema as a value, a pydantic class or a `Path`"
            )
        text, path = _included(text, path, limits)
        wanted = None if finish is None else Finish.parse(finish)
        request = Request(start, wanted, limits, defaults=defaults)
        self._hold(read_grammar(Source(text, path), KBNF, request), limits)

    _read: Callable[[], Reading]

    _values: Callable[[], str | None] | None = None
    """What values are made of, where that does not come from reading the text."""

    ahead: "Ahead | None" = None
    """The work ahead for its engines unless they have their own; a ``Compiler`` sets it."""

    canonical: bool = False
    """Whether its engines allow canonical tokens alone unless they say otherwise; set likewise."""

    _request: Request | None = None
    """What the text was read with, where that and the text are all that it needs."""

    def _hold(self, reading: Reading, limits: Limits) -> None:
        _usable(reading)
        reading.parsed.release()
        # A cached property, which is stored here before anybody asks for it.
        self.__dict__["reading"] = reading
        self.source = reading.parsed.source
        self.language = reading.language
        self.start = reading.start
        self.finish = reading.finish
        self._limits = limits
        self._stored: Stored | None = None

    @classmethod
    def read(
        cls,
        text: str,
        language: Language | str,
        *,
        path: str | None = None,
        start: str | None = None,
        finish: Finish | str | None = None,
        limits: Limits = DEFAULT_LIMITS,
        imports: Imports = BELOW,
        defaults: Defaults = NO_DEFAULTS,
        vocabulary: "Vocabulary | None" = None,
        lossy: bool = False,
        options: Mapping[str, Any] = NO_OPTIONS,
    ) -> "Grammar":
        """Return the grammar of a text in any language of ``kbnf_core.languages``, or by its name.

        ``path`` names the text in messages and is where its imports are looked for, as ``imports``
        permits. What the text says of tokens, it says of those of ``vocabulary``. ``options`` are
        those of the language. Raises ``GrammarError`` with all findings for a text with errors and,
        unless ``lossy``, for one that cannot be kept as a whole.
        """
        language = as_language(language)
        wanted = None if finish is None else Finish.parse(finish)
        files: dict[str, str | None] = {}
        # So a pickle carries the files that were imported, and is read where they are not.
        kept = imports.keeping(files)
        request = Request(start, wanted, limits, kept, defaults, vocabulary, lossy, options)
        grammar = cls.of(read_grammar(Source(text, path), language, request), limits)
        if grammar.losses and not lossy:
            raise GrammarError(grammar.losses)
        if vocabulary is None:
            imports = imports._replace(load=files.get)
            grammar._request = request._replace(imports=imports, options=dict(options))
        return grammar

    @classmethod
    def read_with(cls, text: str, language: Language | str, **options: Any) -> "Grammar":
        """Return what ``read`` does, with the language's own options beside those of ``read``."""
        own = {name: options.pop(name) for name in options.keys() - OF_READ}
        return cls.read(text, language, options=own, **options)

    @classmethod
    def from_any(cls, source: object, **options: Any) -> "Grammar":
        """Build a grammar from a text, a path, a schema, a class or a structural tag.

        A ``Grammar``; a text in KBNF or the name of an included grammar; a ``Path`` of a file in
        any language; a JSON Schema or a structural tag as a dict; a pydantic class, or another
        type for which pydantic makes a schema. ``options`` are those of the method for that kind.
        Raises what that method raises, and ``ConfigError`` for anything else.
        """
        match source:
            case Grammar():
                return source
            case str():
                return cls(source, **options)
            case PathLike():
                return cls.from_file(Path(source), **options)
            case Mapping():
                is_tag = is_structural_tag(source)
                read = cls.from_structural_tag if is_tag else cls.from_json_schema
                return read(source, **options)
            case bool() | type():
                return cls.from_json_schema(source, **options)
        is_of_class = hasattr(source, "model_json_schema") or is_dataclass(source)
        if is_of_class or get_origin(source) is not None:
            return cls.from_json_schema(source, **options)
        is_swapped = hasattr(source, "encode")
        raise ConfigError(
            "expected a grammar (a text, a `Path`, a JSON Schema as a dict, a pydantic class or a"
            f" `Grammar`), got {type(source).__name__}"
            + (": a vocabulary or tokenizer is the second argument" if is_swapped else "")
        )

    @classmethod
    def from_regex(cls, pattern: str, *, limits: Limits = DEFAULT_LIMITS) -> "Grammar":
        """Return the grammar of the texts that a regular expression matches as a whole.

        The expression is one of KBNF's; the model ends the text. Raises ``GrammarError`` for one
        that cannot be used, ``ConfigError`` for a value that is not a text.
        """
        return cls.read(REGEX.text_of(pattern), REGEX, limits=limits)

    @classmethod
    def from_choice(cls, choices: Iterable[str], *, limits: Limits = DEFAULT_LIMITS) -> "Grammar":
        """Return the grammar of some texts, one of which is written; the model ends it.

        Raises ``GrammarError`` for texts that cannot be used, ``ConfigError`` for none, and for
        a value that is not a list of texts.
        """
        return cls.read(CHOICE.text_of(choices), CHOICE, limits=limits)

    @classmethod
    def of(cls, reading: Reading, limits: Limits = DEFAULT_LIMITS) -> "Grammar":
        """Return the grammar of a text that was read. Raises what the constructor raises."""
        grammar = object.__new__(cls)
        grammar._hold(reading, limits)
        return grammar

    @classmethod
    def restore(
        cls,
        source: Source,
        start: str,
        finish: Finish,
        tables: "Tables",
        stored: "Stored | None",
        limits: Limits = DEFAULT_LIMITS,
        *,
        language: Language = KBNF,
        read: Callable[[], Reading] | None = None,
    ) -> "Grammar":
        """Return a grammar that was compiled earlier; its text is read only when it is asked for.

        ``tables`` and ``stored`` are taken as they are. ``read`` reads the text; without it that is
        KBNF.
        """
        grammar = object.__new__(cls)
        grammar.source = source
        grammar.language = language
        grammar.start = start
        grammar.finish = finish
        grammar._limits = limits
        grammar._stored = stored
        if stored is not None:
            grammar._values = stored.values
            grammar.language = named(stored.language or KBNF.name) or KBNF
        grammar._read = read or grammar._read_kbnf
        grammar.__dict__.update(tables=tables)
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

        ``whitespace`` is ``printed`` (the default), ``compact``, ``bounded`` or ``flexible``,
        ``order`` is ``declared`` or ``any``; ``options`` are the other fields of ``Options`` in
        ``kbnf_core.languages.json_schema``: ``integers`` (``plain`` or ``fraction``), ``digits``
        (``bounded`` or ``any``), ``formats`` (``plain``, ``rfc`` or ``annotation``), ``closed``,
        which is true for types of Python, ``syntax`` (``json`` or ``yaml``), and so on. Raises
        ``GrammarError`` for a schema that is malformed, cannot be satisfied or, unless ``lossy``,
        kept as a whole.
        """
        text = JSON_SCHEMA.text_of(schema)
        wanted = JSON_SCHEMA.options_of(
            schema, {"whitespace": whitespace, "order": order, **options}
        )
        grammar = cls.read(text, JSON_SCHEMA, lossy=lossy, options=wanted)
        if isinstance(schema, Mapping):
            # A schema that a program writes is checked by nobody else.
            cast("SchemaReading", grammar.reading.parsed).warn_of_misspelt()
        return grammar

    @classmethod
    def from_tools(cls, tools: object, *, lossy: bool = False, **options: Any) -> "Grammar":
        """Return the grammar of the calls of some tools that a model may write.

        ``tools`` is a list as requests to OpenAI, Anthropic or Gemini have it, or what a server of
        MCP answers: a list, a dict, or a text of JSON. A call is a JSON object with ``name`` and
        ``arguments``; with ``tool_calls`` it is written in the format of a model
        (``languages.structural_tag.models.table``), as ``tool_choice``, ``reasoning`` and
        ``single_call`` say. With ``token_markers``, a vocabulary, the markers that are one token of
        it are written as that token only; texts are read as before (``of_texts``). ``tool`` is the
        name of the only one that is called. The other ``options`` are those of ``from_json_schema``
        and of ``Grammar.read``. Raises ``GrammarError`` for a list with errors and, unless
        ``lossy``, for a schema that cannot be kept as a whole.
        """
        text = TOOL_LIST.text_of(tools)
        return cls.read_with(text, TOOL_LIST, lossy=lossy, **TOOL_LIST.options_of(text, options))

    @classmethod
    def from_gbnf(cls, text: str, *, lossy: bool = False, **options: Any) -> "Grammar":
        """Return the grammar of a GBNF text; ``options`` are those of ``Grammar.read``.

        Raises ``GrammarError`` for a text with errors and, unless ``lossy``, for one that cannot
        be kept as a whole.
        """
        return cls.read_with(text, GBNF, lossy=lossy, **options)

    @classmethod
    def from_bnf(cls, text: str, *, lossy: bool = False, **options: Any) -> "Grammar":
        """Return the grammar of a text of bnf_sampler, as ``from_gbnf`` does.

        With ``vocabulary``, ``<any!>`` and ``<except!(..)>`` stand for its tokens.
        """
        return cls.read_with(text, BNF, lossy=lossy, **options)

    @classmethod
    def from_abnf(cls, text: str, *, lossy: bool = False, **options: Any) -> "Grammar":
        """Return the grammar of an ABNF text, as ``from_gbnf`` does."""
        return cls.read_with(text, ABNF, lossy=lossy, **options)

    @classmethod
    def from_lark(
        cls, text: str, *, postlex: Any = None, lossy: bool = False, **options: Any
    ) -> "Grammar":
        """Return the grammar of a Lark text, or of LLGuidance's list of grammars.

        ``lexing`` among the ``options`` says how text is cut into lexemes. ``postlex`` is an
        ``Indenter`` of Lark, an object or its class; a grammar that declares ``_INDENT`` and
        ``_DEDENT`` is read with the usual one without it. Raises ``ConfigError`` for another
        ``postlex``, and as ``from_gbnf`` does.
        """
        own = LARK.options_of(text, {**options, "postlex": postlex})
        return cls.read_with(text, LARK, lossy=lossy, **own)

    @classmethod
    def from_response_template(
        cls, template: Mapping[str, Any] | str, *, lossy: bool = False, **options: Any
    ) -> "Grammar":
        """Return the grammar of the texts that a response template of transformers reads.

        ``template`` is a dict or a text of JSON, also of a ``tokenizer_config.json`` that has one;
        calls may be of any tools. For those of a request give ``from_tools`` the format that
        ``languages.response_template.parse.format_of_model`` makes of it. ``read_message`` reads
        texts back. ``options`` are those of ``Grammar.read``. Raises ``GrammarError``.
        """
        text = RESPONSE_TEMPLATE.text_of(template)
        own = RESPONSE_TEMPLATE.options_of(text, options)
        return cls.read_with(text, RESPONSE_TEMPLATE, lossy=lossy, **own)

    @classmethod
    def from_structural_tag(
        cls, tag: Mapping[str, Any] | str | Any, *, lossy: bool = False, **options: Any
    ) -> "Grammar":
        """Return the grammar of a structural tag: a dict, a text of JSON, or an object of XGrammar.

        ``options`` are those of ``Grammar.read``, ``vocabulary`` among them, and for the schemas
        inside those of ``from_json_schema``; objects are closed unless ``closed=False``. Raises
        ``GrammarError`` for a tag with errors and, unless ``lossy``, one that cannot be kept.
        """
        text = STRUCTURAL_TAG.text_of(tag)
        own = STRUCTURAL_TAG.options_of(text, options)
        return cls.read_with(text, STRUCTURAL_TAG, lossy=lossy, **own)

    @classmethod
    def from_file(
        cls, path: str | Path, *, lossy: bool = False, limits: Limits = DEFAULT_LIMITS
    ) -> "Grammar":
        """Return the grammar of a file in any language that is read, also of a JSON Schema.

        The language is that of the extension, or what the content says.
        """
        content = read_file(path, limits.source_bytes)
        text, invalid = decode(content, str(path), limits.source_bytes)
        if invalid is not None:
            raise GrammarError([invalid])
        language = detect(text.text, str(path))
        return cls.read(text.text, language, path=str(path), lossy=lossy, limits=limits)

    @classmethod
    def from_store(
        cls, url: str | Path, source: Any, vocabulary: "Vocabulary | None", **options: Any
    ) -> "Grammar":
        """Return the grammar of a source out of a store.

        ``source`` is a text in any language, a ``Path``, or a JSON Schema as a value; ``options``
        are those of ``store.recipe_of``. ``vocabulary`` has an effect where the source speaks of
        tokens (see ``read``). What the store has not is compiled, once on a machine, and
        put there. Raises ``GrammarError`` for a source that cannot be used, also where the store
        remembers that; damage, and a store out of reach, are a ``StoreWarning``.
        """
        from kbnf_core.store.making import grammar_from_store

        return grammar_from_store(url, source, vocabulary, cls.read, cls.restore, **options)

    def __copy__(self) -> "Grammar":
        # A copy would have the same rules, and none of the caches.
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Grammar":
        del memo
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the text, its imports and the settings in force; no caches.

        The text is the conversion to KBNF where the own one needs a vocabulary or an artifact.
        """
        path = self.source.path
        if self._request is not None:
            text, request = self.source.text, self._request
            return _read_again, (type(self), text, self.language.name, path, request)
        arguments = (
            type(self),
            self.to_kbnf(),
            self.start_in_kbnf,
            self.finish,
            path,
            self._limits,
        )
        return _restore, (*arguments, self.values_as_text)

    def _read_kbnf(self) -> Reading:
        """Read the grammar as KBNF."""
        text, start = self.to_kbnf(), self.start_in_kbnf
        request = Request(start, self.finish, self._limits)
        return read_grammar(Source(text, self.source.path), KBNF, request)

    def cold(self) -> "Grammar":
        """Return the same grammar without the caches of its engines."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.__dict__.pop("token_automata", None)
        return twin

    @cached_property
    def of_texts(self) -> "Grammar":
        """The grammar that texts are read by: where markers are tokens, that with their texts.

        An artifact has no other one than itself.
        """
        request = None if self._stored is not None else self.reading.request
        if request is None or not request.options.get("token_markers"):
            return self
        options = {**request.options, "token_markers": None}
        plain = request._replace(options=options, vocabulary=None)
        path = self.source.path
        return _read_again(type(self), self.source.text, self.language.name, path, plain)

    @property
    def limits(self) -> Limits:
        """The limits in force."""
        return self._limits

    def to_kbnf(self) -> str:
        """Return the grammar as KBNF: its own text, or the conversion of another one."""
        if self._stored is not None:
            return self._stored.as_kbnf()[0]
        if self.language is KBNF:
            return self.source.text
        return KBNF.write(self.reading, self._limits).text

    @property
    def start_in_kbnf(self) -> str:
        """The start nonterminal in the text that ``to_kbnf`` returns."""
        if self._stored is not None:
            return self._stored.as_kbnf()[1]
        keeps_names = self.language is KBNF or self.language.is_converted
        return self.start if keeps_names else KBNF.start

    @cached_property
    def reading(self) -> Reading:
        """The text as it was read, with all findings."""
        return self._read()

    @cached_property
    def attributes(self) -> Attributes:
        """Captures and temperatures of rules, as LLGuidance's grammars have them."""
        return self.language.attributes(self.source, self._limits)

    @property
    def losses(self) -> tuple[Diagnostic, ...]:
        """Constructs of the text that reading lost."""
        if self._stored is not None:
            return self._stored.reading.losses
        source = self.source
        return tuple(loss.diagnostic(source) for loss in self.reading.losses)

    @property
    def is_endless(self) -> bool:
        """Whether no text ever ends."""
        return self.reading.is_endless if self._stored is None else self._stored.reading.is_endless

    @property
    def names(self) -> Mapping[str, Span]:
        """Where each name of the text is defined first."""
        if self._stored is not None and self._stored.reading.has_rules:
            return self._stored.reading.names
        return self.reading.parsed.names

    @property
    def has_own_rules(self) -> bool:
        """Whether rules have places in the text; those of a schema have them in its KBNF."""
        if self._stored is not None:
            return self._stored.reading.has_rules
        return self.reading.parsed.is_written

    @property
    def stored_rules(self) -> tuple[ir.GrammarRules, Mapping[str, Span]] | None:
        """The rules for the text of an artifact, and where each of its names is defined first.

        A text without rules of its own is stored as KBNF. None where that takes too much to read.
        """
        if self.has_own_rules:
            return self.named_rules, self.names
        reading = self._read_kbnf()
        rules = reading.grammar
        return None if rules is None else (rules, reading.document.first_names)

    @cached_property
    def rules(self) -> ir.GrammarRules:
        """The grammar that the text means."""
        return (self._stored and self._stored.reading.rules) or _usable(self.reading)

    @cached_property
    def analysis(self) -> "Analysis":
        """The facts of each nonterminal."""
        from kbnf_core.lower.facts import analyse

        analysis = self.reading.analysis if self._stored is None else None
        return analyse(self.rules) if analysis is None else analysis

    @property
    def named_rules(self) -> ir.GrammarRules:
        """The rules with names and spans for people, which explanations are made of."""
        stored = self._stored and self._stored.reading.rules
        return stored or self.reading.named or _usable(self.reading)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings found while reading."""
        return (self.reading if self._stored is None else self._stored.reading).diagnostics

    @cached_property
    def tables(self) -> "Tables":
        """The automata. Raises ``GrammarError`` (E106, E107) where they pass a limit."""
        build = partial(build_tables, self.rules, self._limits, self.analysis, counted=True)
        return self._build(build)

    def tables_with(self, inlined: "Inlined", budget: "Budget") -> "Tables":
        """Return the automata with these nonterminals written out, and a state for each count.

        Raises WorkLimitError where ``budget`` is used up, or the states pass their limit.
        """
        try:
            with without_collecting():
                return build_tables(self.rules, self._limits, self.analysis, budget, inlined)
        except TooManyStatesError:
            raise WorkLimitError(budget.limit) from None

    def _build(self, build: Callable[[], T]) -> T:
        try:
            with without_collecting():
                return build()
        except TooManyStatesError as error:
            raise GrammarError([too_large(self.reading, str(error))]) from None
        except WorkLimitError as error:
            raise GrammarError([too_much_work(self.reading.parsed, error)]) from None

    @cached_property
    def parser(self) -> "Parser":
        """The parser of texts and explainer of places; built on first use. Raises as ``tables``."""
        from kbnf_core.parse.parser import Parser

        return self._build(lambda: Parser(self.named_rules, self._limits))

    def parse(self, text: str | bytes) -> "Tree":
        """Return which rules matched which parts of a whole text.

        A text fits if the start derives it, whatever the way to finish. Where it has several
        trees, it is the one that takes alternatives in written order and loops as long as they
        can, the first difference from the left deciding. Raises ``ParseError`` with the place
        where a text stops fitting, ``WorkLimitError`` for one with too many trees side by side.
        """
        return self.of_texts.parser.parse(_bytes_of(text))

    def status(self, text: str | bytes) -> Status:
        """Return whether a text ``fits``, was ``cut`` (it begins one that does), or is ``wrong``.

        A text fits if an engine over bytes with the grammar's ``finish`` can generate it.
        """
        return self._judge().status(_bytes_of(text))

    def complete(self, text: str | bytes) -> "Completion":
        """Return the shortest way to the end of a text: ``text`` is all of it, ``data`` the end.

        Raises ``ParseError`` with the place for a text that is wrong, ``EngineError`` where the end
        takes more than 65,536 bytes, or a token that has none.
        """
        return self._judge().complete(_bytes_of(text))

    def repair(
        self,
        text: str | bytes,
        most: float = 12.0,
        best: int = 1,
        *,
        invent: bool = True,
        weights: "Weights | None" = None,
    ) -> "list[Repair]":
        """Return the ``best`` texts of the language nearest to a text, the nearest first.

        Each names its edits, their cost by ``weights``, at most ``most``, and the data that was
        invented or lost. The default table is that of JSON where the grammar's texts are JSON or
        calls of tools. A text that fits is its own repair, without edits; one that was cut is
        completed. Without ``invent`` none is returned in which data was made up. An empty list:
        there is none within ``most``. Fewer than ``best``: there are no others, or the search came
        to ``Limits.work``, whereupon ``WorkLimitError`` is raised if none was found.
        """
        return list(self._judge().repairs(_bytes_of(text), most, best, weights, invent=invent))

    def _judge(self, finish: Finish | None = None) -> "Judge":
        from kbnf_core.repair import Judge

        grammar = self.of_texts
        chosen = grammar.finish if finish is None else finish
        return Judge(grammar.token_automata, chosen, self._limits, self.language.name)

    def require(self, text: str | bytes, *, partial: bool = False) -> None:
        """Raise ``ParseError`` for a text that the start does not derive, whatever the finish.

        With ``partial`` it may be the beginning of one. The text is recognised, without its trees,
        which take more work; they name the rules that are open at an error where the limits allow.
        """
        data = _bytes_of(text)
        self._judge(Finish.EOS).require(
            data, lambda: self.of_texts.parser.check(data, partial=partial), partial=partial
        )

    def read_value(
        self,
        text: str | bytes,
        *,
        partial: bool = False,
        exact: bool = False,
        any_name: bool = False,
    ) -> Any:
        """Return the JSON value of a whole text, as ``json.loads`` has it.

        Of a structural tag, or of calls of tools in the format of a model, it is the list of free
        text (strings), ``{"reasoning": text}`` and ``{"name", "arguments"}``. With ``partial`` the
        text may be the beginning of one, and the value is its certain part: strings so far, numbers
        once they are complete; None if nothing is certain. Of a text of block YAML (``syntax`` of
        schemas) complete lines are certain.

        Calls are read as models write them, whether or not the grammar allows it; ``exact`` refuses
        what it does not, ``any_name`` takes calls of other tools for calls. Arguments that do not
        fit the schema of a tool have ``valid``, which is false, and ``pointer`` beside them. Raises
        ``ParseError`` for a text that does not fit the grammar, if that is asked for or is not one
        of calls, or that is not JSON.
        """
        from kbnf_core.parse.values import value_of

        data = _bytes_of(text)
        if exact or self._readers.checks:
            self.require(data, partial=partial)
        return value_of(self.value_reader(any_name=any_name), data, partial=partial)

    def read_message(self, text: str | bytes, *, prefix: str = "") -> dict[str, Any]:
        """Return the message of a text, as transformers' ``parse_response`` reads it.

        The grammar is that of a response template, or of calls of tools in the format of one, whose
        schemas cast arguments. ``prefix`` is the chat before the text, whose end may begin the
        message. The text need not fit the grammar. Raises ``MessageError`` for a text that is not a
        message, ``ConfigError`` where there is no response template.
        """
        from kbnf_core.languages.response_template.message import read_message

        messages = "" if self._marked is None else self._marked.messages
        return read_message(messages, text, prefix, self._limits)

    def value_reader(
        self, vocabulary: "Vocabulary | None" = None, *, any_name: bool = False
    ) -> "Reader":
        """Return a reader of the value of one text in chunks.

        ``feed`` takes text, bytes, or tokens of ``vocabulary``; ``value`` is as ``read_value`` has
        it with ``partial``. Where that is a list, ``deltas`` returns the new content since the last
        call. Calls that do not fit the schemas of tools are not refused.
        """
        return self._build(lambda: self._readers.reader(vocabulary, any_name=any_name))

    @property
    def values_as_text(self) -> str | None:
        """The description of values, for an artifact; None where they are JSON."""
        from kbnf_core.languages.structural_tag.marks import dump

        if self._values is not None:
            return self._values()
        marked = self.reading.parsed.marked()
        return None if marked is None else dump(marked)

    @cached_property
    def _marked(self) -> "Marked | None":
        """The description of values; None where they are JSON."""
        from kbnf_core.languages.structural_tag.marks import load

        if self._values is None:
            return self.reading.parsed.marked()
        text = self._values()
        return None if text is None else load(text, self._limits)

    @cached_property
    def _readers(self) -> "Readers":
        """The readers of values."""
        from kbnf_core.parse.values import Readers

        return Readers(self._marked, self._limits)

    @property
    def vocabulary_mark(self) -> "VocabularyMark | None":
        """The vocabulary over which it was read, for an artifact; None where it is for all."""
        from kbnf_core.artifact.manifest import VocabularyMark

        if self._stored is not None:
            return self._stored.vocabulary_mark
        request = self.reading.request
        vocabulary, text = request.vocabulary, self.source.text
        if vocabulary is None or not self.language.uses_vocabulary(text, request.options):
            return None
        return VocabularyMark.of(vocabulary)

    @property
    def estimated_bytes(self) -> int:
        """The memory that it takes, with all that engines remember of it.

        Arrays and what the kernel keeps are counted, trees of Python's objects are estimated.
        """
        result, attributes = _OWN_BYTES + len(self.source.text), self.__dict__
        if "tables" in attributes:
            result += self.tables.bytes
        if "reading" in attributes:
            result += self.reading.estimated_bytes
        if "parser" in attributes:
            result += _PARSED_BYTES * self.tables.state_count
        return result + (
            self.token_automata.estimated_bytes if "token_automata" in attributes else 0
        )

    def check_vocabulary(self, vocabulary: "Vocabulary") -> None:
        """Raise ``VocabularyError`` for another one than that over which its text was read."""
        if self._stored is not None:
            self._stored.check_vocabulary(vocabulary)
            return
        # Without tokens the text need not be read for it.
        vocabulary_read = self.reading.request.vocabulary if self.tables.token_terminals else None
        mark = (
            None
            if vocabulary_read is None or vocabulary_read is vocabulary
            else self.vocabulary_mark
        )
        if mark is not None and not mark.is_of(vocabulary):
            raise VocabularyError("the grammar was read over another vocabulary: read it with this")

    @cached_property
    def token_automata(self) -> "TokenAutomata":
        """The caches, shared by all engines of this grammar."""
        from kbnf_core.mask.token_automaton import TokenAutomata

        return TokenAutomata(self.tables, self._limits)


def grammar_for(source: object, config: Config, defaults: Defaults) -> Grammar:
    """Return the grammar of an engine with some settings: one that was read, or a source to read.

    Raises what reading raises, and ``ConfigError`` for settings that come too late.
    """
    limits = config.limits_in_force()
    if isinstance(source, str):
        start, finish = config.start_nonterminal, config.finish
        return Grammar(source, start=start, finish=finish, limits=limits, defaults=defaults)
    if isinstance(source, Grammar) and limits is not config.limits:
        raise ConfigError(
            "this grammar was read before: `max_memory_usage` comes too late; give it"
            " `Limits(regex_bytes=..., exception_bytes=...)`"
        )
    return Grammar.from_any(source)


def _read_again(
    kind: type[Grammar], text: str, language: str, path: str | None, request: Request
) -> Grammar:
    """Return a grammar that was pickled as what it was made of."""
    language_read = named(language)
    if language_read is None:
        raise ConfigError(f"there is no language {language!r}: a newer kbnf pickled the grammar")
    grammar = kind.of(read_grammar(Source(text, path), language_read, request), request.limits)
    grammar._request = request
    return grammar


def _restore(
    kind: type[Grammar],
    text: str,
    start: str,
    finish: Finish,
    path: str | None,
    limits: Limits,
    values: str | None,
) -> Grammar:
    """Return a grammar that was pickled."""
    grammar = kind(text, start=start, finish=finish, path=path, limits=limits)
    grammar._values = lambda: values
    return grammar


_OWN_BYTES, _PARSED_BYTES = 4_096, 400
"""The memory of a grammar and its names, and of positions beside a state."""

_PATH = re.compile(r"[\w.~ /\\:-]+\.(?:kbnf|gbnf|lark|bnf|abnf|json|kbnfc)")


def _bytes_of(text: str | bytes) -> bytes:
    if not isinstance(text, str | bytes | bytearray | memoryview):
        raise TypeError(f"a text is a str or bytes, not {type(text).__name__}")
    return text.encode() if isinstance(text, str) else bytes(text)


def _included(text: str, path: str | None, limits: Limits) -> tuple[str, str | None]:
    """Return the text of the included grammar that ``text`` names, with its name; else both.

    Raises ``GrammarError`` for a text that is a path: no file is read because a text names it.
    """
    # A grammar has an equals sign in each rule, a name or a path none: no file is looked for.
    if len(text) > _LONGEST_NAME or "=" in text:
        return text, path
    file = grammar_file(text)
    if file is not None:
        name = path or f"{PREFIX}{file.stem}"
        return read_file(file, limits.source_bytes).decode(), name
    if text.startswith(PREFIX):
        raise ConfigError(f"there is no grammar `{text}`; there are {', '.join(grammar_names())}")
    if path is None and _PATH.fullmatch(text):
        method = "load_artifact" if text.endswith(".kbnfc") else "Grammar.from_file"
        finding = Diagnostic(
            "E001",
            f"this is the path of a file, not a grammar: `{method}` reads it",
            Source(text),
            Span(0, len(text)),
            helps=(f"`{method}({text!r})` reads the file",),
        )
        raise GrammarError([finding])
    return text, path


_LONGEST_NAME = 200


def _usable(reading: Reading) -> ir.GrammarRules:
    """Return the grammar that was read; raise its findings, errors first."""
    if reading.grammar is not None:
        return reading.grammar
    rest = [d for d in reading.diagnostics if d.severity is not Severity.ERROR]
    only_empty = all(error.code == "E105" for error in reading.errors)
    raise (EmptyGrammarError if only_empty else GrammarError)([*reading.errors, *rest])
