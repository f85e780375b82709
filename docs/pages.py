"""Pages of the site that are made from what lies elsewhere, as a hook of mkdocs.

One source each: the manual (``man/``, which `man` and `kbnf help` show too), the page of each
finding (`kbnf rule`), and README files of other folders. None of them is written into ``docs/``.
"""

import html
import json
import re
import runpy
import sys
import tomllib
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
# The site is about this checkout, wherever mkdocs is installed.
sys.path[:0] = [str(ROOT), str(ROOT / "core")]

from pygments.lexers import LEXERS  # noqa: E402

from kbnf_cli.help import macro, page_title, styled  # noqa: E402
from kbnf_core.text.diagnostics import CATALOGUE  # noqa: E402
from kbnf_core.text.diagnostics.catalogue import read_page  # noqa: E402
from kbnf_core.text.diagnostics.segments import Role, Segments  # noqa: E402

# As the entry point of the wheel does, wherever mkdocs is installed.
LEXERS["KbnfLexer"] = ("kbnf_core.integrations.pygments", "KBNF", ("kbnf",), ("*.kbnf",), ())

TAKEN = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "benchmarks.md",
    "core/README.md": "how-it-works/map.md",
    "grammars/README.md": "grammars.md",
    "integrations/kbnf-compat/README.md": "decoders/kbnf-compat.md",
    "integrations/kbnf-sglang/README.md": "decoders/kbnf-sglang.md",
    "integrations/kbnf-vllm/README.md": "decoders/kbnf-vllm.md",
}
"""Files of the checkout that are pages of the site as they are."""

PYODIDE = ROOT / "docs" / "page" / "node_modules" / "pyodide"
"""The interpreter that the playground runs, where it was installed."""

_TAGS = {Role.TITLE: "code", Role.SECONDARY: "em"}
_LINK = re.compile(r"\[([^\]\[]*)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")
_MADE = re.compile(r"<!-- made by docs/pages\.py: (\w+) -->")
_FENCED = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made."""
    made = {**dict(_manual()), **dict(_findings())}
    for source, target in TAKEN.items():
        made[target] = (ROOT / source).read_text(encoding="utf-8")
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links between files of the checkout at the pages that show them."""
    del config
    name = page.file.src_uri
    origins = {target: source for source, target in TAKEN.items()}
    origin = ROOT / origins.get(name, f"docs/{name}")

    def there(link: re.Match[str]) -> str:
        target = (origin.parent / link[2]).resolve()
        if not target.is_relative_to(ROOT):
            return link[0]
        path = target.relative_to(ROOT).as_posix()
        shown = TAKEN.get(path) or path.removeprefix("docs/")
        if files.get_file_from_path(shown) is None:
            # Folders and files of the checkout are named, not linked.
            return link[0] if path.startswith("docs/") else f"{link[1]} (`{path}`)"
        up = "../" * name.count("/")
        return f"[{link[1]}]({up}{shown}{link[3] or ''})"

    markdown = _MADE.sub(lambda found: "\n".join(_TABLES[found[1]]()), markdown)
    pieces = _FENCED.split(markdown)
    pieces[1::2] = [_without_prompts(piece) for piece in pieces[1::2]]
    pieces[::2] = [_LINK.sub(there, piece) for piece in pieces[::2]]
    return "".join(pieces)


def on_post_build(config: MkDocsConfig) -> None:
    """Add the playground, whose page shows it."""
    if PYODIDE.is_dir():
        build = runpy.run_path(str(ROOT / "docs" / "page" / "build.py"))["build"]
        build(Path(config.site_dir) / "playground", PYODIDE)


def _playground() -> Iterator[str]:
    """Yield the frame of the playground, or how to open it where it is not in this site."""
    if not PYODIDE.is_dir():
        yield "`kbnf play --web` (`pip install '.[web]'`) opens the playground: a grammar with its"
        yield "findings and diagram, texts with their trees, and the tokens allowed after each."
        yield ""
        yield "This copy of the site has none that runs in the browser alone: `npm install` in"
        yield "`docs/page`, then `mkdocs build`, adds it."
        return
    yield "It runs in your browser and sends nothing anywhere; a link contains the grammar after"
    yield "its `#`. Texts, trees and tokens need the compiled engine: `kbnf play --web` serves the"
    yield "same page from your machine with all three tabs."
    yield ""
    yield (
        '<iframe src="playground/index.html" title="The playground" allow="clipboard-write"'
        ' style="width: 100%; height: 80vh; border: 1px solid; border-radius: 8px"></iframe>'
    )
    yield ""
    yield '<a href="playground/index.html">Open it on a page of its own</a>.'


def _without_prompts(block: str) -> str:
    """Return a block of Python that can be copied: without prompts, results as comments."""
    if not block.startswith("```python") or "\n>>> " not in block:
        return block
    lines = []
    for line in block.splitlines():
        if line.startswith((">>> ", "... ")):
            lines.append(line[4:])
        elif line in (">>>", "..."):
            lines.append("")
        else:
            is_result = line and not line.startswith("```")
            lines.append(f"# {line}" if is_result else line)
    return "\n".join(lines)


def _manual() -> Iterator[tuple[str, str]]:
    yield "language.md", manual_as_markdown("kbnf.5", "The language")
    yield "limits.md", manual_as_markdown("kbnf-limits.7", "Limits")
    rows = ["# Commands\n", "What `kbnf COMMAND --help`, `kbnf help COMMAND` and `man` tell.\n"]
    for file in sorted((ROOT / "man").glob("kbnf*.1")):
        name = file.stem
        yield f"commands/{name}.md", manual_as_markdown(file.name, name.replace("-", " ", 1))
        title = page_title(file.read_text(encoding="utf-8"))
        rows.append(f"- [{name.replace('-', ' ', 1)}](commands/{name}.md): {html.escape(title)}")
    yield "commands.md", "\n".join(rows) + "\n"


_GROUPS = {
    "0": "The text",
    "1": "Names and rules",
    "2": "Regular expressions",
    "3": "Where texts end",
    "40": "Conversion",
    "41": "GBNF",
    "42": "Lark",
    "43": "ABNF",
    "44": "Structural tags",
    "45": "ANTLR, tree-sitter and EBNF",
    "5": "Dialects and engines",
    "6": "Vocabularies",
    "7": "Cost",
    "8": "JSON Schema",
    "9": "Comparing, and checks that stopped",
}
"""What the digits of a code are about, the longer beginning first."""


def _findings() -> Iterator[tuple[str, str]]:
    rows = [
        "# Findings\n",
        "`kbnf rule CODE` prints the same pages. An *error* makes a grammar unusable, or a"
        " conversion wrong; a *warning* is a likely mistake; an *info* is worth knowing."
        " `--fail-on` says which of them fail a run, `--select` and `--ignore` which are"
        " reported.\n",
    ]
    by_group = {
        title: [rule for rule in CATALOGUE.values() if _group_of(rule.code) == title]
        for title in _GROUPS.values()
    }
    for title, rules in by_group.items():
        rows += [f"## {title}\n", "| code | severity | name | |", "|---|---|---|---|"]
        for rule in sorted(rules, key=lambda rule: ("EWI".index(rule.code[0]), rule.code)):
            yield f"findings/{rule.code}.md", read_page(rule)
            summary = rule.summary.replace("|", "&#124;")
            rows.append(
                f"| [{rule.code}](findings/{rule.code}.md) | {rule.severity.label} |"
                f" {rule.name} | {summary} |"
            )
        rows.append("")
    yield "findings.md", "\n".join(rows) + "\n"


def _group_of(code: str) -> str:
    return _GROUPS.get(code[1:3]) or _GROUPS[code[1]]


def _targets() -> Iterator[str]:
    """Yield the table of what engines take, from their stored verdicts."""
    file = ROOT / "tests/golden/lint/targets.json"
    found = json.loads(file.read_text(encoding="utf-8")).values()
    yield f"| construct | {' | '.join(target['engine'] for target in found)} |"
    yield "|---" * (1 + len(found)) + "|"
    for construct in next(iter(found))["verdicts"][".kbnf"]:
        verdicts = [target["verdicts"][".kbnf"][construct] for target in found]
        yield f"| {construct} | {' | '.join(verdicts)} |"


def _bugs() -> Iterator[str]:
    """Yield the table of the bugs that the comparison with the Rust engine knows."""
    file = ROOT / "tests/differential/known_bugs.toml"
    yield from ("| bug | versions | why |", "|---|---|---|")
    for bug in tomllib.loads(file.read_text(encoding="utf-8"))["bug"]:
        reason = bug["reason"].replace("|", "&#124;")
        yield f"| {bug['name']} | {', '.join(bug['versions'])} | {reason} |"


_TABLES = {"targets": _targets, "bugs": _bugs, "playground": _playground}


def manual_as_markdown(name: str, title: str) -> str:
    """Return a page of ``man/`` as Markdown with HTML in it."""
    lines = iter((ROOT / "man" / name).read_text(encoding="utf-8").splitlines())
    out = [f"# {title}\n"]
    is_listed = False
    for line in lines:
        head, arguments = macro(line)
        if is_listed and head in ("SH", "PP", "EX"):
            out.append("</dl>\n")
            is_listed = False
        match head:
            case "TH":
                pass
            case "SH" if arguments == ["NAME"]:
                next(lines)
            case "SH":
                out.append(f"\n## {' '.join(arguments).capitalize()}\n")
            case "PP":
                out.append("")
            case "TP":
                out.append("</dd>" if is_listed else "\n<dl>")
                is_listed = True
                out.append(f"<dt>{_as_html(styled(next(lines, '')))}</dt><dd>")
            case "EX":
                out.append(f"\n```\n{_verbatim(lines)}```\n")
            case _:
                out.append(_as_html(styled(line)))
    if is_listed:
        out.append("</dd></dl>")
    return "\n".join(out) + "\n"


def _verbatim(lines: Iterator[str]) -> str:
    shown = []
    for line in lines:
        if line == ".EE":
            break
        shown.append("".join(part.text for part in styled(line)) + "\n")
    return "".join(shown)


def _as_html(pieces: Segments) -> str:
    out = []
    for role, parts in groupby(pieces, key=lambda part: part.role):
        text = _escaped("".join(part.text for part in parts))
        tag = _TAGS.get(role)
        out.append(f"<{tag}>{text}</{tag}>" if tag else text)
    return "".join(out)


def _escaped(text: str) -> str:
    """Return ``text`` so that neither HTML nor Markdown reads anything into it."""
    escaped = html.escape(text, quote=False)
    return re.sub(r"[\\`*_{}\[\]#|!~^]", lambda sign: f"&#{ord(sign[0])};", escaped)
