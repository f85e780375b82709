"""The page that explains a code, and the lookup of a code by what a user types."""

from kbnf_core.diagnostics.catalogue import CATALOGUE, Rule, page_of


def read_page(rule: Rule) -> str:
    """Return the Markdown page of a rule."""
    return page_of(rule).read_text(encoding="utf-8")


def find_rule(text: str) -> Rule | None:
    """Return the rule whose code or name ``text`` is, in any case."""
    wanted = text.strip().lower()
    matches = (rule for rule in CATALOGUE.values() if wanted in (rule.code.lower(), rule.name))
    return next(matches, None)


def nearest_rules(text: str) -> list[Rule]:
    """Return at most three rules whose code or name looks like ``text``, the nearest first."""
    import difflib

    by_word = {word: rule for rule in CATALOGUE.values() for word in (rule.code.lower(), rule.name)}
    words = difflib.get_close_matches(text.strip().lower(), by_word, n=3)
    return list(dict.fromkeys(by_word[word] for word in words))
