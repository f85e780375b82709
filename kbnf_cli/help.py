"""``kbnf help`` and ``kbnf rule``: the manual, the language and the findings, from the package.

Of roff's ``man`` macros those are read that ``man/`` uses: one source for ``man kbnf.5`` and
``kbnf help language``, which needs neither ``man`` nor a checkout.

Tests: tests/cli/test_help.py
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import click
from click.shell_completion import CompletionItem

from kbnf_cli.console import Console, Exit
from kbnf_cli.options import TOPICS, common_options, examples
from kbnf_core.shipped import grammar_file, grammar_names, manual_page
from kbnf_core.text.diagnostics import CATALOGUE, Rule
from kbnf_core.text.diagnostics.catalogue import find_rule, nearest_rules, read_page
from kbnf_core.text.diagnostics.segments import NEWLINE, Role, Segment, Segments, severity_role

_FONTS = {"B": Role.TITLE, "I": Role.SECONDARY, "R": Role.PLAIN, "P": Role.PLAIN}
_SIGNS = {"aq": "'", "dq": '"', "ha": "^", "ti": "~"}
_ESCAPE = re.compile(
    r"\\(?:f(?P<font>[BIRP])|\((?P<sign>..)|\[u(?P<code>[0-9A-F]{4,6})\]|(?P<char>.))"
)
_ARGUMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|((?:\\.|\S)+)')
_FIXED_BLANK = "\xa0"
_TEXT, _BODY = 4, 8
"""Columns at which text begins, and the text below a tag."""

Word = tuple[Segment, ...]
"""A word, which is never broken."""


def page_title(roff: str) -> str:
    """Return the title in the NAME of a page."""
    line = roff.partition(".SH NAME\n")[2].partition("\n")[0]
    return "".join(segment.text for segment in inline(line.partition(r" \- ")[2]))


def render_page(roff: str, width: int) -> Segments:
    """Return a page as text, its paragraphs at most ``width`` columns wide."""
    page = _Page(width)
    lines = iter(roff.splitlines())
    for line in lines:
        page.add(line, lines)
    page.end_paragraph()
    return page.out


@dataclass
class _Page:
    """The text so far, and the paragraph that is being collected."""

    width: int
    out: Segments = field(default_factory=list)
    _words: list[Word] = field(default_factory=list)
    _indent: int = _TEXT

    def add(self, line: str, rest: Iterator[str]) -> None:
        """Take a line of the page, and those that belong to it."""
        name, arguments = macro(line)
        match name:
            case "TH":
                pass
            case "SH":
                self._begin(_TEXT)
                self.out += [*_gap(self.out), Segment(" ".join(arguments), Role.TITLE), NEWLINE]
            case "PP":
                self._begin(_TEXT)
                self._empty_line()
            case "TP":
                self._begin(_TEXT)
                self._empty_line()
                self._words += _words_of(styled(next(rest, "")))
                self._begin(_BODY)
            case "EX":
                self._verbatim(rest)
            case _:
                self._words += _words_of(styled(line))

    def end_paragraph(self) -> None:
        """Lay out the collected words."""
        column = 0
        for word in self._words:
            length = sum(len(segment.text) for segment in word)
            if column and column + 1 + length > self.width:
                self.out.append(NEWLINE)
                column = 0
            lead = " " if column else " " * self._indent
            self.out += [Segment(lead), *word]
            column += len(lead) + length
        if self._words:
            self.out.append(NEWLINE)
        self._words = []

    def _begin(self, indent: int) -> None:
        self.end_paragraph()
        self._indent = indent

    def _empty_line(self) -> None:
        # Not after a heading, which is close to what it heads.
        if len(self.out) > 1 and self.out[-2].role is not Role.TITLE:
            self.out += _gap(self.out)

    def _verbatim(self, rest: Iterator[str]) -> None:
        self.end_paragraph()
        self._empty_line()
        for line in rest:
            if line == ".EE":
                return
            text = "".join(segment.text for segment in inline(line))
            self.out.append(Segment(f"{' ' * _BODY}{text}\n" if text else "\n"))


def _gap(out: Segments) -> Segments:
    return [NEWLINE] if out and not _ends_empty(out) else []


def _ends_empty(out: Segments) -> bool:
    return len(out) > 1 and out[-1] == NEWLINE and out[-2].text.endswith("\n")


def macro(line: str) -> tuple[str, list[str]]:
    """Return the name of a macro, empty for text, and its arguments."""
    if not line.startswith("."):
        return "", []
    name, _, rest = line[1:].partition(" ")
    return name, [quoted or bare for quoted, bare in _ARGUMENT.findall(rest)]


def styled(line: str) -> Segments:
    """Return a line of text, or a macro that sets fonts, as pieces."""
    name, arguments = macro(line)
    if not name:
        return inline(line)
    if len(name) == 1:
        return inline(" ".join(arguments), _FONTS[name])
    fonts = [_FONTS[letter] for letter in name]
    runs = (inline(text, fonts[i % 2]) for i, text in enumerate(arguments))
    return [segment for segments in runs for segment in segments]


def inline(text: str, role: Role = Role.PLAIN) -> Segments:
    """Return a text with its escapes resolved."""
    out: Segments = []
    end = 0
    for escape in _ESCAPE.finditer(text):
        out.append(Segment(text[end : escape.start()], role))
        end = escape.end()
        if escape["font"]:
            role = _FONTS[escape["font"]]
        else:
            out.append(Segment(_character(escape), role))
    out.append(Segment(text[end:], role))
    return [segment for segment in out if segment.text]


def _character(escape: re.Match[str]) -> str:
    if escape["sign"]:
        return _SIGNS[escape["sign"]]
    if escape["code"]:
        return chr(int(escape["code"], 16))
    return {"e": "\\", "&": "", " ": _FIXED_BLANK}.get(escape["char"], escape["char"])


def _words_of(segments: Segments) -> Iterator[Word]:
    """Split pieces at their blanks."""
    word: list[Segment] = []
    for text, role in segments:
        first, *others = (run.replace(_FIXED_BLANK, " ") for run in text.split(" "))
        if first:
            word.append(Segment(first, role))
        for other in others:
            if word:
                yield tuple(word)
            word = [Segment(other, role)] if other else []
    if word:
        yield tuple(word)


def _complete_code(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    upper, lower = incomplete.upper(), incomplete.lower()
    names = (*CATALOGUE, *(entry.name for entry in CATALOGUE.values()))
    return [CompletionItem(name) for name in names if name.startswith((upper, lower))]


@click.command(epilog=examples("kbnf rule", "kbnf rule W304", "kbnf rule undefined-start"))
@click.argument("code", required=False, shell_complete=_complete_code)
@common_options
@click.pass_obj
def rule(console: Console, code: str | None) -> int:
    """Explain a diagnostic.

    CODE is a code such as E101 or a name such as undefined-nonterminal; without it, all are
    listed.
    """
    if code is None:
        console.data(listing())
        return Exit.CLEAN
    diagnostic = find_rule(code)
    if diagnostic is None:
        raise click.ClickException(_no_rule(code))
    console.markdown(read_page(diagnostic))
    return Exit.CLEAN


def listing() -> Segments:
    """Return a line for each diagnostic: by subject, errors first."""
    width = max(len(entry.name) for entry in CATALOGUE.values())
    ordered = sorted(CATALOGUE.values(), key=lambda entry: _sort_key(entry.code))
    return [segment for entry in ordered for segment in _line(entry, width)]


def _sort_key(code: str) -> tuple[str, int, str]:
    """Return the place of a code in a list: by subject, then severity, then number."""
    return code[1], "EWI".index(code[0]), code


def _line(entry: Rule, width: int) -> Segments:
    code = Segment(entry.code, severity_role(entry.severity))
    return [code, Segment(f"  {entry.name:{width}}  {entry.summary}\n")]


def _no_rule(code: str) -> str:
    near = [f"{rule.code} ({rule.name})" for rule in nearest_rules(code)]
    advice = f"did you mean {' or '.join(near)}?" if near else "`kbnf rule` lists all"
    return f"there is no rule {code!r}; {advice}"


_PAGES = {
    "language": "kbnf.5",
    "limits": "kbnf-limits.7",
    **{topic: f"kbnf-{topic}.7" for topic in TOPICS},
    "kbnf": "kbnf.1",
}
"""Pages that are not those of commands."""

_WIDEST = 100


def _complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete topics: a page, a command, or a finding."""
    names = (*_PAGES, "grammars", "codes", *_commands(ctx), *CATALOGUE)
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@click.command(
    "help",
    epilog=examples(
        "kbnf help language", "kbnf help convert", "kbnf help W301", "kbnf help endless whitespace"
    ),
)
@click.argument("words", metavar="[TOPIC|WORD...]", nargs=-1, shell_complete=_complete)
@common_options
@click.pass_context
def help_(context: click.Context, words: tuple[str, ...]) -> int:
    """Show the manual, or search it.

    TOPIC is `language`, the reference of KBNF, `limits`, `grammars`, the list of shipped
    grammars, `codes`, options of many commands (`input`, `json-schema`, `settings`), the name of a
    command, or the code or name of a finding. Any other words
    list the pages that contain all of them. Without an argument, the topics are listed.
    """
    console = context.ensure_object(Console)
    width = min(console.width() or 80, _WIDEST)
    if not words:
        console.paged(_topics(context))
        return Exit.CLEAN
    topic = " ".join(words)
    page = _page(context, topic)
    if page is not None:
        console.paged(render_page(page, width))
    elif topic == "grammars":
        console.paged(_grammars())
    elif topic == "codes":
        console.paged(listing())
    elif (diagnostic := find_rule(topic)) is not None:
        console.markdown(read_page(diagnostic))
    else:
        console.paged(_search_results(context, words))
    return Exit.CLEAN


def _search_results(context: click.Context, words: tuple[str, ...]) -> Segments:
    """Return the topics whose pages contain all of ``words``, those that name them first."""
    wanted = [word.casefold() for word in words]
    rows: list[tuple[int, str, str]] = []
    for name, summary, text in _all_pages(context):
        head = f"{name} {summary}".casefold()
        if all(word in head or word in text for word in wanted):
            rows.append((sum(word not in head for word in wanted), name, summary))
    if not rows:
        raise click.ClickException(_no_topic(context, " ".join(words)))
    rows.sort(key=lambda row: row[0])
    width = max(len(name) for _, name, _ in rows) + 2
    return [
        Segment("Topics of `kbnf help TOPIC` that contain these words\n", Role.TITLE),
        *_table([(name, summary) for _, name, summary in rows[:_MOST_RESULTS]], width),
    ]


_MOST_RESULTS = 20


def _all_pages(context: click.Context) -> Iterator[tuple[str, str, str]]:
    """Yield the topics with their titles and texts, in small letters."""
    for name in (*_PAGES, *_commands(context)):
        page = _page(context, name) or ""
        text = "".join(segment.text for segment in render_page(page, _WIDEST))
        yield name, page_title(page), " ".join(text.casefold().split())
    for entry in CATALOGUE.values():
        yield entry.code, f"{entry.name}: {entry.summary}", read_page(entry).casefold()


def _page(context: click.Context, topic: str) -> str | None:
    """Return the roff of a topic's page, None if it has none."""
    name = _PAGES.get(topic)
    if name is None and topic in _commands(context):
        name = f"kbnf-{topic}.1"
    file = None if name is None else manual_page(name)
    return None if file is None else file.read_text(encoding="utf-8")


def _commands(context: click.Context) -> list[str]:
    top = context.find_root()
    return top.command.list_commands(top) if isinstance(top.command, click.Group) else []


def _no_topic(context: click.Context, topic: str) -> str:
    from kbnf_core.text.suggest import Suggestions

    names = [*_PAGES, "grammars", "codes", *_commands(context)]
    near = Suggestions(names).closest(topic)
    codes = [rule.code for rule in nearest_rules(topic)]
    close = [near] if near else codes
    advice = f"did you mean {' or '.join(close)}?" if close else "`kbnf help` lists the topics"
    return f"there is no topic {topic!r}, and no page contains it; {advice}"


def _topics(context: click.Context) -> Segments:
    rows = []
    for name in _PAGES:
        page = _page(context, name)
        rows.append((name, page_title(page) if page else ""))
    rows += [("grammars", "the grammars that are shipped"), ("codes", "all findings")]
    commands = [(name, page_title(_page(context, name) or "")) for name in _commands(context)]
    width = max(len(name) for name, _ in (*rows, *commands)) + 2
    return [
        Segment("Topics of `kbnf help TOPIC`, and codes such as W301\n", Role.TITLE),
        *_table(rows, width),
        Segment("\nCommands\n", Role.TITLE),
        *_table(commands, width),
    ]


def _table(rows: list[tuple[str, str]], width: int) -> Segments:
    return [
        segment
        for name, text in rows
        for segment in (Segment(f"  {name:<{width}}", Role.SECONDARY), Segment(f"{text}\n"))
    ]


def _grammars() -> Segments:
    rows = [(name, _about(name)) for name in grammar_names()]
    width = max((len(name) for name, _ in rows), default=0) + 2
    return [
        Segment(
            "Shipped grammars, which every command accepts by name or as builtin:NAME\n", Role.TITLE
        ),
        *_table(rows, width),
    ]


def _about(name: str) -> str:
    """Return the first sentence of the comment that a shipped grammar begins with."""
    file = grammar_file(name)
    text = "" if file is None else file.read_text(encoding="utf-8")
    comment = text.partition("(*")[2].partition("*)")[0]
    return re.split(r"\n\s*\n|(?<=[.:;])\s", " ".join(comment.split()))[0].rstrip(".:;")
