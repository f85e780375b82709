"""The engine: a cursor in one text. Grammar and vocabulary are shared; an engine is not.

Tests: tests/unit/test_engine_values.py, tests/property/test_engine_reference.py
"""

from collections.abc import Collection, Iterable
from copy import copy
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, SupportsIndex, TypeVar

import numpy as np
import numpy.typing as npt

from kbnf_core.config import NO_DEFAULTS, Config, Defaults, Finish, engine_settings
from kbnf_core.grammar import Grammar, grammar_for
from kbnf_core.kernel import AcceptTokenResult, EngineCore
from kbnf_core.mask.ahead import Ahead, ahead_for
from kbnf_core.mask.bits import (
    Bitmask,
    apply_mask,
    as_words,
    check_logits,
    check_rows,
    checked_tree,
    ids_of,
    row_of,
)
from kbnf_core.mask.boundary import (
    After,
    Boundary,
    WaitingAutomaton,
    checked_after,
    waiting_for,
)
from kbnf_core.mask.canonical import count_breaks, rows_of
from kbnf_core.mask.masks import WAITING, state_at
from kbnf_core.mask.token_automaton import TOKEN_BITS, TableFullError, TokenAutomaton
from kbnf_core.recognise.states import DEAD, Migration
from kbnf_core.text.errors import (
    EngineError,
    FinishedError,
    LateError,
    UnknownTokenError,
)
from kbnf_core.text.limits import Limits
from kbnf_core.text.locks import cached_property
from kbnf_core.vocab.vocabulary import Vocabulary, spelled

if TYPE_CHECKING:
    from random import Random

    from kbnf_core.mask.completion import Completion, Sample, ShortestTexts
    from kbnf_core.mask.why import Explanation, RuleFollower, Why
    from kbnf_core.parse.calls import CallReader
    from kbnf_core.parse.follow import Follower, ValueReader
    from kbnf_core.parse.messages import MessageReader
    from kbnf_core.parse.tree import Event

__all__ = ["AcceptTokenResult", "Engine"]

L = TypeVar("L")


KEPT_POSITIONS = 64
"""Places of the past that an engine takes along to a fresh table; older ones can be replayed."""

FORGOTTEN = DEAD
"""In the list of past places: one that was not taken along. No text is ever at DEAD."""


_REBUILT = frozenset(
    (
        *("_grammar", "_finish", "_automaton", "_words", "_nothing", "_allowed"),
        *("_position", "_positions", "_accepted", "_left", "_follower", "_value_reader"),
    )
)
"""Attributes of an engine that are recomputed when it is unpickled."""


class Engine(EngineCore):
    """Constrains one text to a grammar, token by token.

    What every token needs, ``try_accept_new_token``, ``compute_allowed_token_ids`` and
    ``fill_bitmask``, is in the base class, which is compiled.

    ``grammar`` is KBNF text or a ``Grammar``; give a ``Grammar`` to share what it remembers
    between engines. ``copy.copy`` gives an engine at the same position that moves on its own and
    shares all caches.

    Grammars, vocabularies and their caches may be shared by threads; an engine, being a position,
    belongs to one thread at a time. Every method that raises leaves the engine as it was. All
    three can be pickled: grammar and vocabulary as what they were made from, an engine with what
    it accepted, which is accepted again; no cache is carried. A vocabulary leaves its tokenizer
    here, without which an engine that is ``canonical`` cannot be restored (``ConfigError``).

    ``finish`` and ``limits`` win over those of ``config``. ``stop_token_ids`` end the sequence in
    place of the vocabulary's own; one beyond the vocabulary makes it, and its masks, that wide.

    ``after`` is a text, or the id of a token, that comes before the grammar: until it has come
    every token is allowed but those that end the sequence. It may end within a token; the rest of
    that belongs to the grammar, but for what the grammar does not take. It is a position like
    others for copies, ``rollback`` and drafts. ``after_tokens`` is how many tokens may occur before
    it: after as many only those can with which it comes in the fewest tokens.

    ``budget`` is a number of tokens in which the text is over, those that end the sequence among
    them and those before the grammar (``after``) not: a token is allowed only if a way to the end
    is known that is short enough after it. ``remaining`` says how many are left. It counts tokens
    only: to end in time, a JSON text may repeat a name.

    ``ahead``: a background thread makes the masks that are likely to come next, while the
    model computes (``mask.ahead``); an ``Ahead`` counts for several engines. By default engines do
    so whose grammar a ``Compiler`` made, and those of a batch (``fill_bitmasks``); ``KBNF_AHEAD=0``
    in the environment turns it off. Masks are the same.

    ``canonical``: of the possible tokens, allow only those that the tokenizer would write itself
    (``mask.canonical``), for which it has to be one of byte pairs. Where that leaves none it gives
    way, not the grammar; ``canonical_breaks`` counts it. Accepting does not refuse other tokens. By
    default it is off, but for grammars of a ``Compiler`` that has it on.

    A token id is an ``int`` or anything with ``__index__``, as NumPy's and torch's integers.

    Coming from elsewhere: ``Engine(...)`` is *initialize*, ``try_accept_new_token`` is *advance*,
    ``get_allowed_token_ids_from_last_computation`` is *current_possible_tokens*, ``mask_logits``
    is *update_logits_from_tokens* (the current ones), ``update_logits`` is
    *modify_possible_logits* (after a new token), ``reset`` and ``copy.copy`` are *reset* and
    *clone* of the engine's design post; ``compute_allowed_token_ids`` and the other methods of
    the Rust crate's ``EngineLike`` have the names they have there.

    Raises ``GrammarError`` for a grammar that cannot be used, ``VocabularyError`` where it names
    tokens that the vocabulary does not have, ``ConfigError`` for an impossible setting; where that
    is the ``budget`` it names one that is enough, and for ``canonical`` why there are none.
    """

    _defaults: ClassVar[Defaults] = NO_DEFAULTS
    """The settings of a text that has none, where ``config`` has none either."""

    _automaton: TokenAutomaton

    _makes_room = True
    """Whether a full table is to be replaced where a position or a mask is asked for."""

    _follower: "Follower | None" = None
    """Follows the certain events of the text, from the first request for them on."""

    _value_reader: "CallReader | MessageReader | ValueReader | None" = None
    """Its value, where somebody has asked."""

    def __init__(
        self,
        grammar: str | Grammar,
        vocabulary: Vocabulary,
        config: Config | None = None,
        *,
        finish: Finish | str | None = None,
        limits: Limits | None = None,
        stop_token_ids: int | Collection[int] | None = None,
        after: After | None = None,
        after_tokens: int | None = None,
        budget: int | None = None,
        ahead: bool | Ahead | None = None,
        canonical: bool | None = None,
    ) -> None:
        settings = engine_settings(config, finish, limits)
        if stop_token_ids is not None:
            vocabulary = vocabulary.ending_with(stop_token_ids)
        grammar = grammar_for(grammar, settings, self._defaults)
        finish = grammar.finish if settings.finish is None else Finish.parse(settings.finish)
        boundary = checked_after(after, after_tokens, vocabulary)
        canonical = grammar.canonical if canonical is None else canonical
        self._begin(grammar, vocabulary, finish, boundary, budget, ahead, canonical)
        self.remaining = budget

    def _begin(
        self,
        grammar: Grammar,
        vocabulary: Vocabulary,
        finish: Finish,
        boundary: Boundary | None,
        budget: int | None,
        ahead: bool | Ahead | None,
        canonical: bool,
    ) -> None:
        grammar.check_vocabulary(vocabulary)
        self._canonical = rows_of(vocabulary) if canonical else None
        self._grammar = grammar
        self._finish = finish
        self._boundary = boundary
        self._budget = budget
        self._left = -1
        self._use(waiting_for(grammar.token_automata.get(vocabulary, finish), boundary))
        self._position = self._automaton.beginning
        self._accepted: list[int | bytes] = []
        self._positions: list[int] = []
        self._allowed = self._automaton.no_mask()
        self._ahead_wanted = ahead
        self._ahead = ahead_for(ahead, grammar.ahead)
        self._look_ahead()

    def __copy__(self) -> "Engine":
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._use(self._automaton)
        twin._position = self._position
        twin._accepted = self._accepted.copy()
        twin._positions = self._positions.copy()
        twin._row, twin._row_at = self._row, self._row_at
        twin._left = self._left
        twin._canonical = self._canonical
        if self._follower is not None:
            twin._follower = copy(self._follower)
        # A reader moves on with its text, so that two engines cannot share one.
        twin._value_reader = None
        twin._ahead = self._ahead
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> "Engine":
        del memo
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what the position follows from; caches are not carried."""
        carried = (
            *(self._grammar, self.vocabulary, self._finish, self._boundary, self.accepted),
            *(self._left, self._canonical is not None, self._allowed),
        )
        own = {name: self.__dict__[name] for name in self.__dict__.keys() - _REBUILT - {"_why"}}
        return _restore, (type(self), *carried, own)

    @property
    def ahead(self) -> Ahead | None:
        """The work ahead for this engine, with its counts; None without any."""
        result: Ahead | None = self._ahead
        return result

    def look_ahead(self, ahead: Ahead) -> None:
        """Let ``ahead`` work for this engine, unless somebody does or it is switched off."""
        if self._ahead is None and self._ahead_wanted is None:
            self._ahead = ahead_for(ahead)
            # A batch asks again for each token.
            self._ahead_wanted = None if self._ahead else False
            self._look_ahead()

    @property
    def canonical(self) -> bool:
        """Whether canonical tokens alone are allowed, where there are any."""
        return self._canonical is not None

    @property
    def canonical_breaks(self) -> int:
        """How many accepted tokens the tokenizer would not have written after those before them.

        Counted from where the grammar begins, and 0 without ``canonical``; masks lead to one only
        where grammar and canonicity have no token in common.
        """
        if self._canonical is None:
            return 0
        return count_breaks(self._canonical, self._accepted, self._before_grammar()[0])

    @property
    def grammar(self) -> Grammar:
        """The grammar."""
        return self._grammar

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary."""
        return self._automaton.masks.vocabulary

    @property
    def finish(self) -> Finish:
        """The way to end in force."""
        return self._finish

    @property
    def after(self) -> After | None:
        """The text, or the id of a token, that comes before the grammar."""
        return None if self._boundary is None else self._boundary.after

    @property
    def after_tokens(self) -> int | None:
        """How many tokens may occur before ``after``, None for any number."""
        return None if self._boundary is None else self._boundary.tokens

    @property
    def budget(self) -> int | None:
        """The number of tokens that each text has, None for any number."""
        return self._budget

    @property
    def remaining(self) -> int | None:
        """The number of tokens that are left to the text, None for any number.

        Setting it raises ``ConfigError`` where the text cannot be over in that; a rollback gives
        back what it undoes, and ``reset`` the ``budget``.
        """
        return None if self._left < 0 else self._left

    @remaining.setter
    def remaining(self, tokens: SupportsIndex | None) -> None:
        left = -1 if tokens is None else index(tokens)
        if tokens is not None:
            self._automaton.nearest_end.check_budget(self._begun, left)
        self._left = left

    def is_waiting(self) -> bool:
        """Return whether everything is allowed, since the text before the grammar is incomplete."""
        return self._position >= WAITING

    @property
    def _begun(self) -> int:
        """The position in the grammar: its beginning while it waits."""
        return self._automaton.masks.states.initial if self.is_waiting() else self._position

    @property
    def accepted(self) -> tuple[int | bytes, ...]:
        """The token ids and byte strings accepted since the start or the last reset."""
        return tuple(self._accepted)

    def get_vocab(self) -> Vocabulary:
        """Return the vocabulary."""
        return self.vocabulary

    def is_finished(self) -> bool:
        """Return whether the text is over: nothing can be accepted any more."""
        return self._position < 0

    def can_finish(self) -> bool:
        """Return whether the text may end here: it is over or, with ``finish="eos"``, complete."""
        return self._automaton.can_finish(self._state)

    def is_stuck(self) -> bool:
        """Return whether no token can occur although the text may not end here.

        That is where the vocabulary cannot spell what the grammar asks for.
        """
        return not self.can_finish() and not self._automaton.has_tokens(self._state)

    def accept_tokens(self, ids: Iterable[SupportsIndex]) -> int:
        """Append tokens up to the first that cannot occur; return how many that were.

        No token id, valid or not, is an error here; other values are a ``TypeError``, before
        anything changes.
        """
        wanted = [index(token_id) for token_id in ids]
        for count, token_id in enumerate(wanted):
            try:
                self.try_accept_new_token(token_id)
            except EngineError:
                return count
        return len(wanted)

    def validate_tokens(self, ids: Iterable[SupportsIndex]) -> int:
        """Return how many of the tokens ``accept_tokens`` would append; append none."""
        before = len(self._positions)
        try:
            return self.accept_tokens(ids)
        finally:
            self.rollback(len(self._positions) - before)

    def fill_draft_bitmask(
        self, out: Any, row: SupportsIndex, draft: Iterable[SupportsIndex]
    ) -> int:
        """Write the masks here, and after each token of ``draft``, into the rows from ``row``.

        The rows are those of ``fill_bitmask``; those after a token that cannot occur, whose
        positions no text reaches, allow everything. The engine does not move. Returns how many
        tokens of the draft can occur. Raises what ``fill_bitmask`` raises, before anything is
        written.
        """
        wanted = [index(token_id) for token_id in draft]
        first, last, before = index(row), (self._row, self._row_at), len(self._positions)
        # All of them before anything is written: a row that is missing changes nothing.
        rows = [row_of(out, first + index) for index in range(len(wanted) + 1)]
        fitting = self.validate_tokens(wanted)
        try:
            self.fill_bitmask(rows[0])
            for token_id, after in zip(wanted[:fitting], rows[1:], strict=False):
                self.try_accept_new_token(token_id)
                self.fill_bitmask(after)
        finally:
            self.rollback(len(self._positions) - before)
            self._row, self._row_at = last
        for behind in rows[fitting + 1 :]:
            behind.fill(-1)
        return fitting

    def fill_tree_bitmasks(self, out: Any, row: SupportsIndex, parents: Any, tokens: Any) -> None:
        """Write the mask after the path to each node of a tree of drafts into a row.

        ``parents`` and ``tokens``: integers, one for each node; node i has the row ``row + i`` and
        comes after ``parents[i]``, which is less than i. A parent of -1 makes a root: that is the
        position of the engine, its token one that was accepted. Rows are those of ``fill_bitmask``;
        a node whose token is negative (padding), one whose token cannot occur, and all below them
        have rows of zeros. Neither the engine nor its memoised last computation changes. Raises
        what ``fill_bitmask`` raises, and ``ValueError`` for parents that are not a tree, before
        anything is written.
        """
        table, first = as_words(out), index(row)
        nodes = checked_tree(parents, tokens)
        check_rows(table, first, len(nodes[0]), self.vocabulary.size)
        try:
            self._fill_tree(table, first, *nodes)
        except TableFullError:
            self._renew()
            # The tree may be larger than a table: states are not forgotten within it.
            self._makes_room = False
            try:
                self._fill_tree(table, first, *nodes)
            finally:
                self._makes_room = True

    def try_accept_new_bytes(self, data: bytes) -> AcceptTokenResult:
        """Append bytes, as if they were one token with that spelling.

        Raises ``FinishedError`` or ``RejectedError``. No bytes at all change nothing.
        """
        try:
            after = self._automaton.feed(self._position, data)
        except TableFullError:
            self._renew()
            # Positions that were carried over may fill a fresh table, too.
            after = self._automaton.append(self._position, data)
        if self._left >= 0:
            self._left = self._left_checked(after, data)
        self._accepted.append(data)
        self._positions.append(self._position)
        self._position = after
        self._look_ahead()
        return AcceptTokenResult.Ongoing if after >= 0 else AcceptTokenResult.Finished

    def get_allowed_token_ids_from_last_computation(self) -> list[int]:
        """Return the allowed ids, ascending; none before the first computation or after a reset."""
        ids: list[int] = ids_of(self._allowed, self.vocabulary.size).tolist()
        return ids

    def allowed_bits(self) -> Bitmask:
        """Return the allowed tokens of the last computation, as read-only words of bits."""
        return self._allowed

    def get_disallowed_token_ids_from_last_computation(self) -> list[int]:
        """Return all other ids below the vocabulary's size, ascending."""
        ids: list[int] = ids_of(~self._allowed, self.vocabulary.size).tolist()
        return ids

    def mask_logits(self, logits: L) -> L:
        """Set the logits of ids that cannot occur next to minus infinity; after the end, all.

        The mask is computed here, or taken from the cache.
        ``logits``: NumPy array or torch tensor, floating point, shape (n,) or (rows, n), each row
        masked alike; changed in place where it can be, and returned. Entries beyond the vocabulary
        become minus infinity.
        Raises ``InvalidLogitsError`` where n is less than the vocabulary's size.
        """
        last = self._row, self._row_at
        self.compute_allowed_token_ids()
        try:
            return apply_mask(self._allowed, self.vocabulary.size, logits)
        except (TypeError, ValueError):
            self._row, self._row_at = last
            raise

    def update_logits(self, token_id: int, logits: L) -> tuple[L, AcceptTokenResult]:
        """Append a token and, unless that finishes, compute and mask.

        Returns the logits and the result. Raises what the steps raise, before anything changes.
        """
        # A token that finishes needs no logits; for any other they are checked before it is
        # accepted.
        if self._position_after(token_id) >= 0:
            check_logits(self.vocabulary.size, logits)
        result = self.try_accept_new_token(token_id)
        if result is AcceptTokenResult.Finished:
            return logits, result
        return self.mask_logits(logits), result

    def reset(self) -> None:
        """Go back to the beginning; caches are kept."""
        self._position = self._automaton.beginning
        self._accepted.clear()
        self._positions.clear()
        self._allowed = self._automaton.no_mask()
        self._left = -1 if self._budget is None else self._budget
        self._follower = self._value_reader = None

    def rollback(self, count: int = 1) -> None:
        """Undo the last ``count`` accepted tokens or byte strings, also one that finished.

        Raises ``EngineError`` where fewer were accepted.
        """
        if not 0 <= count <= len(self._positions):
            raise EngineError(f"cannot undo {count} of {len(self._positions)} accepted tokens")
        if not count:
            return
        position = self._positions[-count]
        if self._left >= 0:
            # Tokens before the grammar took nothing of the budget.
            self._left += sum(undone < WAITING for undone in self._positions[-count:])
        del self._positions[-count:]
        del self._accepted[-count:]
        self._position = position if position != FORGOTTEN else self._replay()
        if self._follower is not None:
            waited, rest = self._before_grammar()
            self._follower.roll_back(len(self._accepted) - waited + bool(rest))
        # Parts of a value that were returned cannot be taken back: it is read again.
        self._value_reader = None

    def events(self) -> "list[Event]":
        """Return the events that became certain since the last call: where rules begin and end.

        An event is certain if all derivations that are still possible have it; events come in the
        order of the text, properly nested, and one is withheld until those before it are certain.
        Once the text is over, or may not go on, the rest comes as ``Grammar.parse`` has it. After a
        rollback the events of the undone text are forgotten; a copy goes on by itself. Text that is
        generated is followed from the first call on, at no cost before it.
        """
        return self._followed().new_events()

    def captures(self, name: str) -> list[bytes]:
        """Return the texts that the rule ``name`` has matched for certain, in the order they end.

        Those of several rules where an LLGuidance grammar captures them under one name
        (``capture="name"``). Raises ``ConfigError`` for a rule that the grammar does not have.
        """
        return self._followed().captures(name, self._grammar.attributes.captures)

    @property
    def temperature(self) -> float | None:
        """The highest temperature of the rules that the text may go on in; None where none has one.

        Rules of LLGuidance's grammars have them (``temperature=0.7``); sampling is the caller's.
        Where some rule has one, the text is read again, as ``why`` does.
        """
        attributes = self._grammar.attributes
        if self.is_finished() or not attributes.temperatures:
            return None
        origins = self._grammar.reading.document.origins
        return attributes.temperature_in(self.why(b"").rules, origins)

    def values(self) -> Any:
        """Return the JSON value of the text so far: its certain part, None if there is none.

        As ``Grammar.read_value`` with ``partial``, except that only new text is read. The value is
        the caller's own, a copy of the whole: ``Grammar.value_reader().deltas()`` has only new
        content. Raises ``ParseError`` for a text that is not JSON.
        """
        from kbnf_core.parse.follow import copied

        if self._value_reader is None:
            self._value_reader = self._grammar.value_reader(self.vocabulary)
        accepted = self.accepted_by_grammar(self._value_reader.count)
        return copied(self._value_reader.read(accepted, is_over=self.is_finished()))

    def _followed(self) -> "Follower":
        from kbnf_core.parse.follow import Follower

        if self._follower is None:
            self._follower = Follower(self._grammar.parser, self.vocabulary)
        accepted = self.accepted_by_grammar(self._follower.count)
        self._follower.follow(accepted, is_over=self.is_finished())
        return self._follower

    def forced_bytes(self, limit: int = 1_024) -> bytes:
        """Return the bytes that every way on begins with, as far as they are certain.

        At most ``limit``. Nothing is forced where the text may end or a token terminal may occur.
        """
        return self._automaton.forced_bytes(self._position, limit)

    def forced_tokens(self, limit: int = 256) -> list[int]:
        """Return the tokens that certainly come next, at most ``limit``.

        They are those that the tokenizer itself writes for the forced bytes, if the vocabulary
        knows how (``Vocabulary.can_encode``); bytes that it would write otherwise before some text
        are withheld. Beyond them, and without a tokenizer, a token is foreseen where a mask allows
        that one alone.
        """
        result = self._automaton.forced_tokens(self._position, self._accepted, limit)
        # Where few tokens are left, the tokenizer's may be too many.
        return result if self._left < 0 else result[: self.validate_tokens(result)]

    def prepare(self, budget: int | None = None) -> int:
        """Precompute the mask of this position, and those of the positions likely to come next.

        Call it between accepting a token and asking for the mask, as while the model computes.
        ``budget`` is counted work, the unit of ``Limits.work``; by default about a millisecond's
        worth. Returns the work done, at most one mask's more. Position, masks and errors stay
        what they are; only later calls are faster.
        """
        from kbnf_core.mask.ahead import DEFAULT_WORK, prepare

        return prepare(self._automaton, self._begun, DEFAULT_WORK if budget is None else budget)

    def shortest_completion(self, *, fewest: bool = True, repeats: bool = False) -> "Completion":
        """Return how the text can end soon, in bytes and in tokens.

        The tokens are few, those of a text that is cheap to spell; others may be fewer. With
        ``fewest=False`` they are those that spell the bytes.
        In a JSON text it repeats no name of an object, where another one is found. With
        ``repeats=True`` it may, so that the text so far is not read.
        Raises ``EngineError`` for a completion of more than 65,536 bytes.
        """
        from kbnf_core.mask.completion import shortest_completion

        before = None if repeats else self._text_so_far
        return shortest_completion(self._automaton, self._where_it_began(), fewest, before)

    def sample(self, random: "Random", length: int = 32) -> "Sample":
        """Return tokens at random that can follow: about ``length``, then the soonest end.

        In a JSON text they repeat no name of an object, as ``shortest_completion`` does not.
        Raises ``EngineError`` where ``shortest_completion`` does.
        """
        from kbnf_core.mask.completion import sample

        position = self._where_it_began()
        return sample(self._automaton, position, random, length, self._text_so_far, self.remaining)

    def shortest_texts(self, count: int) -> "ShortestTexts":
        """Return the ``count`` shortest ways to the end, of bytes that are alike by one of them.

        JSON texts that repeat a name of an object come last.
        """
        from kbnf_core.mask.completion import shortest_texts

        position = self._where_it_began()
        return shortest_texts(self._automaton, position, count, self._text_so_far)

    def _where_it_began(self) -> int:
        if self.is_waiting():
            raise EngineError(f"the grammar has not begun: it begins after {self.after!r}")
        return self._exact

    def _text_so_far(self) -> bytes:
        """Return the text of the grammar so far."""
        return self._spelled(self.accepted_by_grammar())

    def _spelled(self, accepted: Iterable[int | bytes]) -> bytes:
        return spelled(self.vocabulary, accepted)

    def accepted_by_grammar(self, start: int = 0) -> list[int | bytes]:
        """Return the bytes and tokens accepted since the grammar began, the rest of a token first.

        Without the first ``start`` of them; those before are not visited.
        """
        waited, rest = self._before_grammar()
        if rest:
            return [*[rest][start:], *self._accepted[waited + max(start - 1, 0) :]]
        return self._accepted[waited + start :]

    def _before_grammar(self) -> tuple[int, bytes]:
        """Return how much was accepted before the grammar began, and the rest of the last of it."""
        return self._automaton.before_grammar(self._position, self._positions, self._accepted)

    def why(self, symbol: int | bytes | str) -> "Explanation":
        """Explain why a token (by id), or bytes or text, can or cannot occur next.

        Raises ``UnknownTokenError`` for an id that the vocabulary does not have.
        """
        asked = symbol if isinstance(symbol, bytes | str) else index(symbol)
        if isinstance(self._automaton, WaitingAutomaton) and self.is_waiting():
            return self._why.explain_waiting(self._automaton, self._position, asked)
        return self._why.explain(self.accepted_by_grammar(), asked)

    def follow_rules(self) -> "RuleFollower":
        """Return a follower that names the rules of a text from its beginning, token by token."""
        from kbnf_core.mask.why import RuleFollower

        return RuleFollower(self._why)

    @cached_property
    def _why(self) -> "Why":
        from kbnf_core.mask.why import Why

        limits = self._automaton.limits
        return Why(self._grammar.parser.positions, self.vocabulary, self._finish, limits)

    @property
    def _state(self) -> int:
        """The position without the count beside the state; its mask is the same."""
        return state_at(self._position)

    @property
    def _exact(self) -> int:
        """The position as a state in which everything is counted."""
        return self._automaton.masks.counting.exact(self._position)

    def _position_after(self, token_id: int) -> int:
        """Return the position after a token; raise if the token is not allowed."""
        token_id = index(token_id)
        # In the key of the memo its bits would be those of a position.
        if token_id >> TOKEN_BITS:
            self._refuse(token_id)
        position = self._exact
        if position >= WAITING:
            # No two texts before a grammar need have a position in common: none is remembered.
            return self._automaton.step(position, token_id)
        try:
            return self._automaton.after[position << TOKEN_BITS | token_id]
        except TableFullError:
            self._renew()
            return self._automaton.step(self._exact, token_id)

    def _step_from(self, position: int, token_id: int) -> int:
        """Return the position after a token at some position, DEAD where it cannot come."""
        position = self._automaton.masks.counting.exact(position)
        try:
            if self._makes_room and position < WAITING:
                return self._automaton.after[position << TOKEN_BITS | token_id]
            return self._automaton.step(position, token_id)
        except EngineError:
            return DEAD

    def _mask_at(self, position: int) -> Bitmask:
        """Compute the mask of some position that has no count beside its state."""
        if self._makes_room and position < WAITING:
            return self._automaton.words[position]
        return self._automaton.mask(position)

    def _fits(self, position: int, left: int) -> bool:
        """Return whether the text can be over in ``left`` tokens from a position of the grammar."""
        return self._automaton.nearest_end.fits(position, left)

    def _closing_mask_here(self) -> Bitmask:
        """Return the tokens that can come here and after which the text can be over in time."""
        words = self._mask_here()
        return self._automaton.fitting(words, self._position, self._left)

    def _closing_mask_at(self, position: int, left: int) -> Bitmask:
        """Return the same for some position, and the number of tokens left there."""
        return self._automaton.fitting(self._mask_at(state_at(position)), position, left)

    def _refuse_late(self, symbol: int | bytes) -> NoReturn:
        """Raise the error for a token that is allowed, but not within the rest of the budget."""
        raise LateError(symbol, self._spelled([symbol]), self._left)

    def _mask_here(self) -> Bitmask:
        """Compute the mask of this position on a cache miss."""
        if self.is_waiting():
            return self._automaton.mask(self._position)
        try:
            return self._automaton.words[self._state]
        except TableFullError:
            self._renew()
            return self._automaton.mask(self._state)

    def _last_row(self, position: int) -> Bitmask:
        """Return the mask row of a position without count at which no tokens are allowed."""
        return self._automaton.last_row(position)

    def _row_of(self, out: Any, row: SupportsIndex | None) -> npt.NDArray[np.int32]:
        """Return a row of a bitmask as a one-dimensional array."""
        return row_of(out, row)

    def _refuse(self, token_id: int) -> NoReturn:
        """Raise the error for an id outside 24 bits."""
        raise FinishedError if self._position < 0 else UnknownTokenError(token_id)

    def _renew(self) -> None:
        """Switch to a fresh table that contains only the last few positions of this engine."""
        old = self._automaton.masks.states
        fresh = self._grammar.token_automata.renew(self.vocabulary, self._finish)
        self._use(waiting_for(fresh, self._boundary))
        new = self._automaton.masks.states
        transfer = Migration(old, new)
        old_ones = max(0, len(self._positions) - KEPT_POSITIONS)

        def carried(position: int, is_old: bool = False) -> int:
            if position >= WAITING:
                return position
            return FORGOTTEN if is_old or position == FORGOTTEN else transfer.position(position)

        with new.carrying_over():
            self._positions = [
                carried(position, index < old_ones)
                for index, position in enumerate(self._positions)
            ]
            self._position = carried(self._position)

    def _accept_again(self, accepted: Iterable[int | bytes]) -> None:
        for symbol in accepted:
            if isinstance(symbol, bytes):
                self.try_accept_new_bytes(symbol)
            else:
                self.try_accept_new_token(symbol)

    def _replay(self) -> int:
        """Replay everything accepted from the beginning; return the position reached."""
        fresh = Engine.__new__(Engine)
        fresh._begin(
            *(self._grammar, self.vocabulary, self._finish, self._boundary, None),
            ahead=False,
            canonical=False,
        )
        fresh._accept_again(self._accepted)
        # It may have begun yet another table on the way.
        self._use(fresh._automaton)
        self._positions = fresh._positions
        return fresh._position


def _restore(
    kind: type[Engine],
    grammar: Grammar,
    vocabulary: Vocabulary,
    finish: Finish,
    boundary: Boundary | None,
    accepted: tuple[int | bytes, ...],
    left: int,
    canonical: bool,
    allowed: Bitmask,
    own: dict[str, Any],
) -> Engine:
    """Return an engine that was pickled."""
    engine = kind.__new__(kind)
    ahead = own.pop("_ahead_wanted", None)
    engine._begin(grammar, vocabulary, finish, boundary, None, ahead, canonical)
    engine._accept_again(accepted)
    # Only now, or the tokens accepted again would be taken off once more.
    engine._left = left
    engine._allowed = allowed
    engine.__dict__.update(own)
    return engine
