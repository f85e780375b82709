"""Every path that README, CONTRIBUTING or the map of the packages names is there."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", "core/README.md")
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
PATH = re.compile(r"(?:[\w.{},*-]+/)+[\w.{},*-]*|[\w-]+\.(?:py|pyx|pxi|md|toml)")
OTHERS = re.compile(r"NAME|CODE|^share/|^build/|^kbnf\.toml$")
"""Names to fill in, and paths of a user's, or of what a build writes."""


def named_paths(text: str) -> set[str]:
    """Return the paths in the code spans and links of a page."""
    spans = {each for each in CODE.findall(text) if PATH.fullmatch(each)}
    return {each for each in spans | set(LINK.findall(text)) if not OTHERS.search(each)}


def alternatives(path: str) -> list[str]:
    """Return the paths that braces stand for."""
    found = re.search(r"\{([^{}]*)\}", path)
    if found is None:
        return [path]
    before, after = path[: found.start()], path[found.end() :]
    return [each for one in found[1].split(",") for each in alternatives(before + one + after)]


@cache
def all_paths() -> list[str]:
    """Return every file and folder of the checkout, each with slashes around it."""
    hidden = re.compile(r"/(?:\.(?!ci|github)|build/|__pycache__|node_modules)")
    found = (f"/{path.relative_to(ROOT).as_posix()}/" for path in ROOT.rglob("*"))
    return [path for path in found if not hidden.search(path)]


def is_there(path: str, page: Path) -> bool:
    """Return whether a path ends one of the checkout, or begins beside the page."""
    return all(
        (page.parent / each).exists()
        or re.search(
            f"/{re.escape(each.strip('/')).replace(re.escape('*'), '[^/]*')}/",
            "\n".join(all_paths()),
        )
        for each in alternatives(path)
    )


@pytest.mark.parametrize("name", PAGES)
def test_the_paths_of_a_page_are_there(name: str) -> None:
    page = ROOT / name
    paths = named_paths(page.read_text(encoding="utf-8"))
    assert len(paths) > 5
    assert sorted(path for path in paths if not is_there(path, page)) == []


def test_a_path_that_is_not_there_is_seen() -> None:
    text = "`core/kbnf_core/{text,no}/` and [a page](docs/none.md#x), `kbnf check`"
    assert named_paths(text) == {"core/kbnf_core/{text,no}/", "docs/none.md"}
    assert not any(is_there(each, ROOT / "README.md") for each in named_paths(text))
