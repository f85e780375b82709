"""Selection of the codes to report: ``--select``, ``--ignore`` and ``--extend-select``."""

from collections.abc import Iterable
from dataclasses import dataclass

from kbnf_core.diagnostics.catalogue import CATALOGUE, find_rule

ALL = "ALL"


def normalise_selector(text: str) -> str:
    """Return a prefix of codes for what a user wrote: ``W1``, ``w101``, a rule's name, ``ALL``.

    Raises ``ValueError`` where it selects nothing.
    """
    upper = text.strip().upper()
    if upper == ALL:
        return ""
    if upper and any(code.startswith(upper) for code in CATALOGUE):
        return upper
    rule = find_rule(text)
    if rule is None:
        raise ValueError(f"no code or name of a rule matches {text!r}")
    return rule.code


@dataclass(frozen=True, slots=True)
class Selection:
    """Prefixes of codes; the longer one wins, and of equal ones ``ignore`` does."""

    select: tuple[str, ...] = ("",)
    ignore: tuple[str, ...] = ()

    def __contains__(self, code: str) -> bool:
        return _longest(self.select, code) > _longest(self.ignore, code)


def _longest(prefixes: Iterable[str], code: str) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)
