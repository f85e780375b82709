"""Named bounds on everything that a grammar, a vocabulary or an input can make large.

Tests: tests/unit/test_limits.py
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds, each with the error it leads to; ``man/kbnf-limits.7`` lists them all.

    ``source_bytes``: bytes of a grammar file, and characters of a grammar text (E017).
    ``nesting_depth``: brackets open at one offset of a grammar or regular expression (E012, E201).
    ``repetition``: largest count in ``x{m,n}`` of a grammar, and in ``{m,n}`` of a regex (E013).
    ``exception_length``: largest ``n`` in ``except!(.., n)`` (E014). ``regex_states``: NFA states,
    and DFA states, of one regular expression (E203). ``regex_bytes`` and ``exception_bytes``: bytes
    of one table of transitions, four a transition, of a regular expression and of an ``except!``
    (E203); None leaves it to the states. ``family_rules``: rules that families, parameters and
    templates stand for, one for each number or argument that is used (E106). ``grammar_states``:
    states of all nonterminals together (E106). ``cached_states``: recogniser states kept; a table
    with more of them is reset with those in use, without an error; so it is when the masks that
    states share take more than ``mask_bytes``. ``cached_steps``: tokens' steps that are remembered,
    and ``mask_bytes`` bounds the masks of single states; of both, the least recently used entries
    are forgotten. So what a grammar remembers follows from these bounds, however long texts are,
    plus the states of the texts of its living engines: at most ``cached_states`` states, with 32
    parts (pairs, items, triples) each on average; ``mask_bytes`` of masks that states share;
    ``mask_bytes`` in each of six memos of masks and walks, for each of the last four vocabularies;
    ``cached_steps`` steps for each of their ways to end; and the additions of one call. A state
    takes four bytes for each byte class once a byte was read from it, and half a kilobyte to one
    with all that is remembered of it. ``work``: counted steps of reading a grammar, its regular
    expressions among them, and of building it (``kbnf_core.text.budget``), so that none blocks a
    process for long, however small its text (E107); and the parts of states that one mask or token
    may add to those that are kept.
    A step takes about half a microsecond in plain Python, so the default is ten seconds at worst.
    ``artifact_read``: bytes of an artifact that is read whole; a larger one is mapped, without an
    error (see ``load_artifact``).
    """

    source_bytes: int = 64 * 2**20
    nesting_depth: int = 256
    repetition: int = 65_535
    exception_length: int = 65_535
    regex_states: int = 200_000
    regex_bytes: int | None = None
    exception_bytes: int | None = None
    family_rules: int = 25_000
    grammar_states: int = 1_000_000
    cached_states: int = 200_000
    cached_steps: int = 200_000
    mask_bytes: int = 64 * 2**20
    work: int = 20_000_000
    artifact_read: int = 64 * 2**20


DEFAULT_LIMITS = Limits()
