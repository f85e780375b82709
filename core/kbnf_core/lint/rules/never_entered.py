"""W304: parts at the end of the start that cannot be entered, since an eager end comes first.

With ``finish=token`` they are entered only within a token that goes on past that end. Over a
vocabulary W307 says whether there is one, and nothing is reported here.

Tests: tests/unit/lint/test_bounds.py, tests/golden/lint
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.config import Finish
from kbnf_core.frontend import Reading
from kbnf_core.ir import Call, Choice, GrammarRules, Node, Regular, Repeat, Sequence, calls
from kbnf_core.languages import KBNF
from kbnf_core.lint.subject import Needs, Subject, show
from kbnf_core.lower.facts import Analysis, Facts
from kbnf_core.text.diagnostics import Diagnostic, Fix, Rule, TextEdit
from kbnf_core.text.source import Span

RULES = (Rule("W304", "never-entered", "Generation ends before this loop or optional part."),)
NEEDS = Needs.GRAMMAR

MOST_STATES = 10_000
"""An automaton with more is left alone."""

_PRAGMA = "(* kbnf: finish=eos *)\n"


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each part that could only follow on a complete text."""
    reading, grammar, analysis = subject.reading, subject.grammar, subject.analysis
    by_token = reading.finish is Finish.TOKEN
    if reading.finish is Finish.EOS or (by_token and subject.options.vocabulary is not None):
        return
    called = _call_counts(grammar, analysis)
    facts: dict[int, Facts] = {}
    stack = [grammar.rules[grammar.start]]
    while stack:
        node = stack.pop()
        facts.update((id(inner), node_facts) for inner, node_facts in analysis.within(node))
        match node:
            case Choice(branches):
                stack.extend(branches)
            case Call(name) if called[name] == 1 and name != grammar.start:
                # With more than one caller it may also are where more text follows.
                stack.append(grammar.rules[name])
            case Sequence(children):
                last = _last_compulsory(children, facts)
                if last is not None:
                    yield from _tail(reading, children[last + 1 :], facts)
                    stack.append(children[last])
            case Repeat():
                yield from _further_turns(reading, node, facts)
                stack.append(node.body)
            case Regular(dfa, span):
                yield from _cut_short(subject, dfa, span)


def _call_counts(grammar: GrammarRules, analysis: Analysis) -> Mapping[str, int]:
    bodies = (grammar.rules[name] for name in analysis.reachable)
    return Counter(call.nonterminal for body in bodies for call in calls(body))


def _last_compulsory(children: tuple[Node, ...], facts: Mapping[int, Facts]) -> int | None:
    result = [index for index, child in enumerate(children) if not facts[id(child)].nullable]
    return result[-1] if result else None


def _tail(
    reading: Reading, children: tuple[Node, ...], facts: Mapping[int, Facts]
) -> Iterator[Diagnostic]:
    filled = [child for child in children if facts[id(child)].filled]
    if filled:
        span = filled[0].span.cover(filled[-1].span)
        yield _finding(reading, span, "this part is never entered", "what is before it is complete")


def _further_turns(
    reading: Reading, node: Repeat[Node], facts: Mapping[int, Facts]
) -> Iterator[Diagnostic]:
    once = max(node.low, 1)
    if facts[id(node.body)].nullable or (node.high is not None and node.high <= once):
        return
    why = "one turn completes it" if once == 1 else f"{once} turns complete it"
    yield _finding(reading, node.span, "this loop is left early", why)


def _cut_short(subject: Subject, dfa: Dfa, span: Span) -> Iterator[Diagnostic]:
    if dfa.state_count > MOST_STATES:
        subject.stop("W304", f"this automaton has {dfa.state_count:,} states", span)
        return
    subject.budget.spend(dfa.state_count)
    taken = operations.union(operations.shortest_matches(dfa), operations.literal(b""))
    word = operations.shortest_word(operations.difference(dfa, taken))
    if word is not None:
        why = f"{show(word)} is complete before its end"
        message = "longer matches of this are never generated"
        yield _finding(subject.reading, span, message, why)


def _finding(reading: Reading, span: Span, message: str, why: str) -> Diagnostic:
    if reading.finish is Finish.TOKEN:
        message = f"{message}, except within one token"
        where = "the first token end at which the text is complete"
    else:
        where = "the first complete text"
    return reading.finding(
        "W304",
        message,
        span,
        notes=(f"`finish={reading.finish.value}` ends at {where}: {why}",),
        helps=(f"end with something that must follow, or {ending_by_the_model(reading)}",),
        fixes=pragma_fix(reading),
    )


def ending_by_the_model(reading: Reading) -> str:
    """Return how to set ``finish=eos``, which not every language has a comment for."""
    return f"set `{_PRAGMA.strip()}`" if reading.language is KBNF else "use `--finish eos`"


def pragma_fix(reading: Reading) -> tuple[Fix, ...]:
    """Return the fix that writes ``finish=eos`` into a grammar that says nothing about its end."""
    if reading.pragmas.finish or reading.language is not KBNF:
        return ()
    edit = TextEdit(Span(0, 0), _PRAGMA)
    return (Fix("let the model choose the end", (edit,), safe=False),)
