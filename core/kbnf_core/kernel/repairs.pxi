# Repairs: the texts of a language that are nearest to a text, by weighted edits.
#
# **Layer.** Beside the others of ``_trees``; of ``_engine`` it uses states and their costs to an
# end.
#
# The transition table is a machine, so the edit distance of a text to its language is a shortest
# path (Aho and Peterson, "A Minimum Distance Error-Correcting Parser for Context-Free Languages",
# 1972, for a machine that is found on the way). A *node* is a state and an offset in the text, at
# the beginning of a character. An edge reads the next character, at no cost, or is an edit: it
# inserts a byte, deletes, replaces or swaps characters, or rewrites some bytes as others, as the
# regular expressions of a table say (``repair/weights.py``). The search is best first (A*): the
# bound of a node is that of bytes. Where the shortest way to the end has more bytes than are left
# of the text, they have to be added, at least at the price of the cheapest edit that adds bytes.
#
# What an edit costs depends on its bytes and on the state before it, hence on the language alone:
#
# - a state is *free* where at least ``_MANY_BYTES`` bytes can come: in strings and free text. A
#   byte that leads from a free state to a free one is *content*, and so is a letter or digit that
#   fits;
# - a letter or digit is *forced* where no other byte can come, else it is *chosen*, as is content.
#   So is a word that comes of two when a sign between them is deleted, unless it is forced.
#
# Data that is lost costs by its length, but for text before the first byte that is kept and after
# the last one: prose around the text. So these two have to be bytes of the text that was given, or
# a tail would be prose as soon as brackets are inserted before it. A node has an *edge* for this:
# all text before was deleted; or a byte was inserted, or replaced another, since one was read.
#
# Free text that may end, or with which a text begins, can go on as something else, as a call of a
# tool after its marker. Where the text, read on as it is, comes to that, an edit of the free text
# would make free text of the call: it costs as a *marker*, at least.
#
# A text that is the beginning of one that fits is closed in the shortest way, which costs less than
# any edit. At the end of other texts each sign that closes them costs less than elsewhere, but for
# quotes: after a quote anything is text. So one that is inserted where the state is not free,
# before a character that is not a letter or digit, costs more than others.
#
# Edits of a node are tried by cost, level by level (rewrites at the first), and what an edit
# leads to is found when its turn comes, so that few states are made. Of ways that cost the same
# the one with the latest edits is first: ranks are the cost and, in the low 32 bits, the sum of
# how far edits are from the end of the text.

cdef enum:
    _MANY_BYTES = 64
    # The kinds of bytes.
    _BLANK = 0, _SIGN = 1, _WORD = 2
    # Facts about a state.
    _IS_COMPUTED = 1, _IS_FORCED = 2, _IS_FREE = 4, _IS_WITHIN = 8
    # The kinds of trials: to look at a node; to try its edits of one level; edits; and ends.
    _AT = 0, _EDITS = 1
    _INSERT = 2, _DELETE = 3, _REPLACE = 4, _SWAP = 5, _REWRITE = 6, _LEAD = 7
    _END = 8, _CLOSE = 9, _TRAIL = 10
    # The edges of a node: the last edit, deletions aside, was of another kind; it was an insertion,
    # or nothing was edited; it deleted the text before.
    _NO_EDGE = 0, _INSERTED = 1, _LED = 2
    # What an edit loses of the text, if anything: data, or text beside the data.
    _LOST = 1, _STRIPPED = 2
    _RANK_SHIFT = 32
    # In thousandths: the cost of replacing beyond the dearer of deleting and inserting; of a byte
    # around a text; of closing a text, at most.
    _REPLACED = 100, _AROUND = 2, _MOST_TO_CLOSE = 50

INSERT, DELETE, REPLACE, SWAP, REWRITE = _INSERT, _DELETE, _REPLACE, _SWAP, _REWRITE
LEAD, CLOSE, TRAIL = _LEAD, _CLOSE, _TRAIL
STRIPPED = _STRIPPED


cdef struct _Trial:
    # An edit to try at a node, after the edit ``parent``. ``before``: the rank of the edits so far.
    # ``written``: a hash of the text so far.
    int64_t before
    uint64_t written
    int32_t state
    int32_t position
    int32_t parent
    int32_t which
    uint8_t kind
    uint8_t byte
    uint8_t chosen
    uint8_t lost
    uint8_t edge


cdef struct _Rewrite:
    # ``taken``: the bytes of the text in whose place it is; ``loses``: data is lost.
    string written
    int32_t taken
    int32_t cost
    uint8_t loses


@cython.final
cdef class Repairs:
    """The texts nearest to ``text``, cheapest first.

    ``weights``: a ``repair.weights.Weights``, whose costs count in thousandths here;
    ``rewriters``: two ``Rewriter`` of the text, outside and inside of free text; ``spelled``: the
    byte for each class. ``count``: how many are wanted; ``most``: what one costs at most.
    ``work``: the steps that may be taken, ``states``: the states that may be made. ``is_eager``: a
    text is over with the first byte that completes it; ``may_be_empty``: the empty text is one.
    ``invents``: bytes may be chosen; ``is_begun``: the text is the beginning of one that fits.
    ``order``: classes, the most readable first.
    """

    cdef LazyTable explorer
    cdef _StateCosts ends
    cdef bytes text
    cdef const uint8_t* data
    cdef int32_t size, count
    cdef int64_t most, work, most_states
    cdef bint is_eager, may_be_empty, invents, is_begun
    cdef const uint8_t[::1] order
    cdef const uint8_t[::1] spelled
    cdef uint8_t kinds[256]
    # The sizes of the classes, and of the characters by offset.
    cdef int32_t sizes[256]
    cdef vector[uint8_t] units
    # What edits cost; ``growth``: the least that a byte costs by which a text grows.
    cdef int32_t inserted[3]
    cdef int32_t deleted[3]
    cdef int32_t forced, within, chosen, content, swapped, around, closed, opened, growth
    cdef int32_t joined, marker, initial
    # Rewrites: by row the costs of one and of each byte, and whether data is lost; those that
    # match; and for each position, outside and inside of free text, the first of them and the one
    # after the last.
    cdef tuple rewriters
    cdef vector[int32_t] row_costs
    cdef vector[int32_t] row_costs_by_byte
    cdef vector[uint8_t] row_loses
    cdef vector[_Rewrite] rewrites
    cdef vector[pair[int32_t, int32_t]] matched
    cdef vector[int32_t] levels
    cdef vector[_Trial] trials
    cdef priority_queue[pair[int64_t, int32_t]] front
    # The nodes: how often each was reached, and by which texts where several are wanted.
    cdef _Map numbers
    cdef vector[int32_t] reached
    cdef vector[vector[uint64_t]] texts
    cdef vector[uint8_t] facts
    # By node: whether the text comes out of free text.
    cdef _Map leading
    # Whether the search was cut off; and the steps taken.
    cdef readonly bint is_cut
    cdef readonly long long spent

    def __init__(
        self, table, _StateCosts ends, bytes text, weights, tuple rewriters,
        const uint8_t[::1] spelled, const uint8_t[::1] order, int32_t count, double most,
        long long work, long long states, bint is_eager, bint may_be_empty, bint invents,
        bint is_begun,
    ):
        cdef _Trial first = _Trial(0, 0, table.initial, 0, UNKNOWN, 0, _AT, 0, 0, 0, _INSERTED)
        cdef _Trial lead = _Trial(0, 0, table.initial, 0, UNKNOWN, 0, _LEAD, 0, 0, 0, _LED)
        self.explorer, self.ends = table.explorer, ends
        self.text, self.data, self.size = text, text, <int32_t> len(text)
        self.count, self.most = count, _thousandths(most)
        self.work, self.most_states = work, states
        self.is_eager, self.may_be_empty, self.invents = is_eager, may_be_empty, invents
        self.is_begun, self.order, self.spelled = is_begun, order, spelled
        self.numbers, self.leading, self.initial = _Map(), _Map(), table.initial
        self.rewriters = rewriters
        self.matched.assign(2 * self.size, pair[int32_t, int32_t](UNKNOWN, UNKNOWN))
        self._learn_weights(weights)
        self._cut_text()
        self._push(first, 0, 0)
        self.explorer.acquire()
        try:
            lead.before = <int64_t> self._beyond(lead, self.around) << _RANK_SHIFT
        finally:
            self.explorer.release()
        self._lead_on(lead)

    cdef int _learn_weights(self, weights) except -1:
        cdef ordered_set[int32_t] levels
        cdef int32_t byte, cost
        memset(self.sizes, 0, sizeof(self.sizes))
        for byte in range(256):
            self.sizes[self.explorer.classes[byte]] += 1
            self.kinds[byte] = _SIGN
            if byte >= 0x80 or 97 <= byte | 32 <= 122 or 48 <= byte <= 57 or byte in weights.words:
                self.kinds[byte] = _WORD
            elif byte in b" \t\r\n":
                self.kinds[byte] = _BLANK
        self.inserted[_BLANK] = self.deleted[_BLANK] = _thousandths(weights.blank)
        self.inserted[_SIGN] = self.deleted[_SIGN] = _thousandths(weights.sign)
        self.deleted[_WORD] = _thousandths(weights.noise)
        self.forced, self.chosen = _thousandths(weights.forced), _thousandths(weights.chosen)
        self.inserted[_WORD] = self.chosen
        self.content, self.swapped = _thousandths(weights.content), _thousandths(weights.swapped)
        self.around, self.closed = _thousandths(weights.around), _thousandths(weights.closed)
        self.joined, self.opened = _thousandths(weights.joined), _thousandths(weights.opened)
        self.within, self.marker = self.forced // 4, _thousandths(weights.marker)
        for byte in range(3):
            levels.insert(self.inserted[byte])
            levels.insert(self.deleted[byte])
        for cost in (
            self.forced, self.content, self.swapped, self.within, self.closed, self.joined,
            self.marker,
        ):
            levels.insert(cost)
        levels.insert(self.inserted[_SIGN] + self.opened)
        # Replacing costs a little more than the dearer of deleting and inserting.
        for cost in tuple(levels):
            levels.insert(cost + _REPLACED)
        self.growth = min(self.within, self.inserted[_BLANK], self.inserted[_SIGN])
        self.growth = min(self.growth, self.closed, self.chosen)
        for row in weights.rewrites:
            self.row_costs.push_back(_thousandths(row.cost))
            self.row_costs_by_byte.push_back(_thousandths(row.byte_cost))
            self.row_loses.push_back(_STRIPPED if row.strips else row.byte_cost > 0)
        # Rewrites are tried at the first level, whatever they cost.
        if not self.row_costs.empty():
            levels.insert(min(self.row_costs))
        self.levels.assign(levels.begin(), levels.end())
        return 0

    cdef int _cut_text(self) except -1:
        """Find the characters; a byte that is part of none is one by itself."""
        cdef int32_t at = 0, length
        self.units.assign(self.size + 1, 1)
        while at < self.size:
            length = 1
            if self.data[at] >= 0xC2:
                length = 2 + (self.data[at] >= 0xE0) + (self.data[at] >= 0xF0)
                if not _is_character(self.text[at : at + length]):
                    length = 1
            self.units[at] = length
            at += length
        return 0

    def next(self):
        """Return the next text, None where there is no other, or ``is_cut``.

        That is: its cost in thousandths, its edits in order, and the state after it. An edit: its
        kind, the span of bytes that it replaces, the bytes in their place, whether these were
        chosen, a mark of lost data, and the cost of all edits up to this one.
        """
        cdef int32_t number
        self.explorer.acquire()
        try:
            while not self.front.empty() and not self.is_cut:
                number = self.front.top().second
                if self.trials[number].kind >= _END:
                    self.front.pop()
                    return self._edits(number)
                self._take(number, -self.front.top().first)
                if self.spent % _PATIENCE == 0:
                    PyErr_CheckSignals()
            return None
        finally:
            self.explorer.release()

    def chooses(self, int32_t state, const uint8_t[::1] data):
        """Return whether some byte that goes on from a state is chosen."""
        cdef uint8_t byte_class, chosen = False
        cdef Py_ssize_t i
        self.explorer.acquire()
        try:
            for i in range(data.shape[0]):
                byte_class = self.explorer.classes[data[i]]
                self._cost_with(state, byte_class, self._facts(state), &chosen)
                if chosen:
                    return True
                state = self.explorer.step_alone(state, byte_class)
            return False
        finally:
            self.explorer.release()

    cdef tuple _edits(self, int32_t number):
        cdef list result = []
        cdef _Trial step
        cdef int64_t cost = self.trials[number].before >> _RANK_SHIFT
        cdef int32_t at = number
        while at != UNKNOWN:
            step = self.trials[at]
            if step.kind not in (_AT, _END):
                start, end = step.position - self._taken(step), step.position
                if step.kind == _TRAIL:
                    end = self.size
                total = step.before >> _RANK_SHIFT
                written = self._written(step)
                result.append((step.kind, start, end, written, step.chosen != 0, step.lost, total))
            at = step.parent
        result.reverse()
        return cost, result, self.trials[number].state

    cdef int32_t _taken(self, _Trial& step) noexcept:
        """How many bytes of the text an edit takes the place of."""
        if step.kind == _LEAD:
            return step.position
        if step.kind == _REWRITE:
            return self.rewrites[step.which].taken
        return step.which if step.kind in (_DELETE, _REPLACE, _SWAP) else 0

    cdef bytes _written(self, _Trial& step):
        if step.kind in (_INSERT, _REPLACE):
            return bytes((step.byte,))
        if step.kind == _REWRITE:
            return self.rewrites[step.which].written
        if step.kind == _SWAP:
            start = step.position - step.which
            middle = start + self.units[start]
            return self.text[middle : step.position] + self.text[start:middle]
        return b""

    cdef int _push(self, _Trial step, int64_t ahead, int32_t late) except -1:
        """Note a step; ``ahead``: what it costs at least from there on, in thousandths."""
        cdef int64_t rank = step.before + (ahead << _RANK_SHIFT) + late
        if rank >> _RANK_SHIFT > self.most:
            return 0
        self._count(1)
        self.front.push(pair[int64_t, int32_t](-rank, <int32_t> self.trials.size()))
        self.trials.push_back(step)
        return 0

    cdef int _push_edit(self, _Trial step, int32_t cost) except -1:
        """Note an edit, with the node after it unknown yet."""
        step.before += (<int64_t> cost << _RANK_SHIFT) + self.size - step.position
        if self.invents or not step.chosen:
            self._push(step, 0, 0)
        return 0

    cdef int _take(self, int32_t number, int64_t rank) except -1:
        cdef _Trial step = self.trials[number]
        self.front.pop()
        if step.kind == _EDITS:
            self._try_edits(step)
            return 0
        if step.kind == _LEAD:
            self._lead_on(step)
        elif step.kind != _AT:
            self._follow(&step)
            # From here on it has the node that it leads to.
            self.trials[number].state, self.trials[number].position = step.state, step.position
        if step.kind != _AT:
            step.parent = number
        if step.state != DEAD:
            self._visit(step, rank)
        return 0

    cdef int _count(self, int64_t steps) except -1:
        self.spent += steps
        if self.spent > self.work or self.explorer.state_count() > self.most_states:
            self.is_cut = True
        return 0

    cdef int _lead_on(self, _Trial step) except -1:
        """Have the text begin one character later."""
        cdef int32_t unit = self.units[step.position]
        if step.position + unit < self.size:
            step.position += unit
            step.before += <int64_t> (_AROUND * unit) << _RANK_SHIFT
            self._push(step, 0, 0)
        return 0

    cdef int _follow(self, _Trial* step) except -1:
        """Find the node that an edit leads to; its state is DEAD where the edit does not fit."""
        cdef int32_t start = step.position, middle
        cdef string* written
        step.position += self._taken(step[0])
        if step.kind in (_INSERT, _REPLACE):
            self._read(step, &step.byte, 1)
        elif step.kind == _SWAP:
            middle = start + self.units[start]
            self._read(step, self.data + middle, step.position - middle)
            self._read(step, self.data + start, middle - start)
        elif step.kind == _REWRITE:
            written = &self.rewrites[step.which].written
            self._read(step, <const uint8_t*> written.data(), <int32_t> written.size())
        if step.kind in (_INSERT, _REPLACE):
            step.edge = _INSERTED
        elif step.kind != _DELETE and (step.kind != _REWRITE or not written.empty()):
            step.edge = _NO_EDGE
        return 0

    cdef int _read(self, _Trial* step, const uint8_t* data, int32_t count) except -1:
        cdef int32_t i
        for i in range(count):
            if step.state == DEAD or (self.is_eager and self.explorer.completions[step.state]):
                step.state = DEAD
                return 0
            step.state = self.explorer.step_alone(step.state, self.explorer.classes[data[i]])
            step.written = _mixed(step.written + data[i] + 1)
        return 0

    cdef bint _is_complete(self, int32_t state) noexcept:
        return self.explorer.completions[state] or (self.may_be_empty and state == 1)

    cdef int64_t _ahead(self, int32_t state, int32_t position) except -1:
        """What a node costs at least to the end, in thousandths."""
        cdef int64_t cost = self.ends.of_state(state)
        if cost >= _NEVER:
            return _NEVER >> _RANK_SHIFT
        cost -= self.size - position
        # A text that only has to be closed costs ``_MOST_TO_CLOSE`` at most, whatever its bytes, so
        # for it the bound would not be admissible.
        return cost * self.growth if cost > 0 and not self.is_begun else 0

    cdef int _visit(self, _Trial step, int64_t rank) except -1:
        """Read on from a node as far as the text fits and costs no more."""
        cdef int64_t ahead, cost = step.before >> _RANK_SHIFT
        cdef int32_t taken
        step.chosen = step.lost = False
        while not self.is_cut:
            ahead = self._ahead(step.state, step.position)
            # Another trial may be cheaper by now: a search that is best first goes on with that.
            if cost + ahead > rank >> _RANK_SHIFT:
                step.kind = _AT
                self._push(step, ahead, 0)
                return 0
            if not self._is_first(step):
                return 0
            self._count(1)
            step.kind, step.which = _EDITS, 0
            self._push(step, self.levels[0], self.size - step.position)
            if self._is_complete(step.state) and step.position == self.size:
                step.kind = _END
                self._push_edit(step, 0)
            elif self._is_complete(step.state) and step.edge == _NO_EDGE:
                step.kind, taken = _TRAIL, self.size - step.position
                self._push_edit(step, self._beyond(step, self.around) + _AROUND * taken)
            elif step.position == self.size and self.is_begun:
                step.kind = _CLOSE
                ahead = min(<int64_t> _MOST_TO_CLOSE, self.ends.of_state(step.state))
                self._push_edit(step, <int32_t> ahead)
            if step.position == self.size:
                return 0
            taken = self.units[step.position]
            self._read(&step, self.data + step.position, taken)
            step.position += taken
            step.edge = _NO_EDGE
            if step.state == DEAD:
                return 0
        return 0

    cdef bint _is_first(self, _Trial& step) except -1:
        """Note that a node was reached; return whether to go on from it."""
        # Edges take two bits; they are part of the node since they decide which edits it allows.
        cdef uint64_t key = _key(4 * step.state + step.edge, step.position)
        cdef int32_t number
        if step.edge != _NO_EDGE:
            # A node without an edge allows every edit of this one.
            number = self.numbers.get(_key(4 * step.state, step.position))
            if number != UNKNOWN and self.reached[number] >= self.count:
                return False
        number = self.numbers.get(key)
        if number == UNKNOWN:
            number = <int32_t> self.reached.size()
            self.numbers.put(key, number)
            self.reached.push_back(0)
            # For one text the cheapest way to a node is the only one that counts; for several, ways
            # that have written the same text until here would end as the same texts.
            if self.count > 1:
                self.texts.resize(number + 1)
        if self.reached[number] >= self.count:
            return False
        if self.count > 1:
            for written in self.texts[number]:
                if written == step.written:
                    return False
            self.texts[number].push_back(step.written)
        self.reached[number] += 1
        return True

    cdef uint8_t _facts(self, int32_t state) except 0:
        cdef int32_t* row
        cdef int32_t byte_class, alive = 0, within = 0
        cdef uint8_t flags = _IS_COMPUTED
        if state >= <int32_t> self.facts.size():
            self.facts.resize(2 * state + 1)
        if self.facts[state] == 0:
            row = self.explorer.live_row(state)
            for byte_class in range(self.explorer.width):
                if row[byte_class] != DEAD:
                    alive += self.sizes[byte_class]
                    if 0x80 <= self.spelled[byte_class] < 0xC0:
                        within += self.sizes[byte_class]
            flags |= _IS_FORCED * (alive == 1) | _IS_FREE * (alive >= _MANY_BYTES)
            self.facts[state] = flags | _IS_WITHIN * (alive == within)
        return self.facts[state]

    cdef int _try_edits(self, _Trial step) except -1:
        """Note the edits of a node that cost as much as its level says."""
        cdef int32_t level = self.levels[step.which]
        cdef uint8_t facts = self._facts(step.state)
        cdef _Trial edit = step
        step.which += 1
        if step.which < <int32_t> self.levels.size():
            self._push(step, self.levels[step.which], self.size - step.position)
        edit.chosen = edit.lost = False
        if edit.position < self.size:
            if step.which == 1:
                self._try_to_rewrite(edit, facts)
            self._try_to_change(edit, level, facts)
        if not (self.is_eager and self.explorer.completions[edit.state]):
            self._try_to_write(edit, level, facts)
        return 0

    cdef int _try_to_change(self, _Trial edit, int32_t level, uint8_t facts) except -1:
        """Try to delete and to swap."""
        cdef int32_t unit = self.units[edit.position], other = edit.position + unit, cost
        cdef const uint8_t* here = self.data + edit.position
        edit.kind, edit.which = _DELETE, unit
        cost = self._cost_without(edit, facts)
        if self._joins(edit.position):
            # Two words become one; only where the grammar forces that is it no other word.
            edit.chosen = not facts & _IS_FORCED
            cost = self._beyond(edit, max(cost, self.joined)) if edit.chosen else cost
        if cost == level:
            self._push_edit(edit, level)
        edit.lost = edit.chosen = False
        cost = self._beyond(edit, self.content if facts & _IS_FREE else self.swapped)
        if level == cost and other < self.size:
            edit.kind, edit.which = _SWAP, unit + self.units[other]
            edit.chosen = not facts & _IS_FORCED and self._makes_word(edit.position, other)
            if unit != self.units[other] or memcmp(here, here + unit, unit):
                self._push_edit(edit, level)
        return 0

    cdef int _try_to_rewrite(self, _Trial edit, uint8_t facts) except -1:
        cdef pair[int32_t, int32_t] rows
        cdef int32_t i
        edit.kind = _REWRITE
        rows = self._rewrites_at(edit.position, facts & _IS_FREE != 0)
        for i in range(rows.first, rows.second):
            edit.which, edit.lost = i, self.rewrites[i].loses
            self._push_edit(edit, self._beyond(edit, self.rewrites[i].cost))
        return 0

    cdef pair[int32_t, int32_t] _rewrites_at(self, int32_t position, bint is_free) except *:
        """The rewrites that match at a position; none adds more bytes than its cost pays for."""
        cdef pair[int32_t, int32_t]* rows = &self.matched[2 * position + is_free]
        cdef int32_t taken, cost
        if rows.first == UNKNOWN:
            rows.first = <int32_t> self.rewrites.size()
            for row, end, written in self.rewriters[is_free].at(position):
                taken = <int32_t> end - position
                cost = self.row_costs[row] + taken * self.row_costs_by_byte[row]
                if (<int32_t> len(written) - taken) * self.growth <= cost:
                    self.rewrites.push_back(_Rewrite(written, taken, cost, self.row_loses[row]))
            rows.second = <int32_t> self.rewrites.size()
        return rows[0]

    cdef bint _joins(self, int32_t at) noexcept:
        """Return whether a character is between two words."""
        return 0 < at < self.size and not self._is_word_at(at) and self._is_word_at(at - 1) \
            and self._is_word_at(at + 1)

    cdef bint _makes_word(self, int32_t at, int32_t other) noexcept:
        """Return whether two characters that are swapped join words, or change a number."""
        if self._is_word_at(at) and self._is_word_at(other):
            return 48 <= self.data[at] <= 57 or 48 <= self.data[other] <= 57
        return self._joins(at) or self._joins(other)

    cdef bint _is_word_at(self, int32_t position) noexcept:
        return position < self.size and self.kinds[self.data[position]] == _WORD

    cdef int _try_to_write(self, _Trial edit, int32_t level, uint8_t facts) except -1:
        """Try to insert and to replace, by a byte of each class."""
        cdef int32_t byte_class, cost, dearer, without = -1, unit = self.units[edit.position]
        cdef bint is_word = self._is_word_at(edit.position), lost = False
        cdef int32_t* row = self.explorer.row_of(edit.state)
        cdef Py_ssize_t i
        if edit.position < self.size:
            without = self._cost_without(edit, facts)
            lost = edit.lost
        # Of trials with equal ranks the last one pushed is taken first: the most readable byte.
        for i in range(self.order.shape[0] - 1, -1, -1):
            byte_class = self.order[i]
            if row[byte_class] == DEAD:
                continue
            self._count(1)
            edit.byte = self.spelled[byte_class]
            cost = self._cost_with(edit.state, byte_class, facts, &edit.chosen)
            cost = self._beyond(edit, cost)
            dearer = 0
            if edit.byte in b"'\"`":
                dearer = 0 if facts & _IS_FREE else self.opened
            elif without < 0 and not edit.chosen:
                cost = min(cost, self.closed)
            if cost + dearer * (not is_word) == level and edit.edge != _LED:
                edit.kind, edit.lost = _INSERT, False
                self._push_edit(edit, level)
            cost += dearer * (not self._is_word_at(edit.position + unit))
            cost = max(cost, without) + _REPLACED
            if is_word and self.kinds[edit.byte] != _WORD:
                cost = max(cost, self.joined)
            if without >= 0 and cost == level and edit.edge != _LED:
                edit.lost = lost
                if unit > 1 or byte_class != self.explorer.classes[self.data[edit.position]]:
                    edit.kind, edit.which = _REPLACE, unit
                    self._push_edit(edit, level)
        return 0

    cdef int32_t _cost_without(self, _Trial& step, uint8_t facts) except -1:
        """What it costs to delete the character at a node; and note whether data is lost."""
        cdef uint8_t byte = self.data[step.position]
        cdef uint8_t byte_class = self.explorer.classes[byte]
        cdef bint fits = self.explorer.row_of(step.state)[byte_class] != DEAD
        cdef bint is_content = fits and self._is_content(step.state, byte_class, facts)
        step.lost = _LOST * (is_content or self.kinds[byte] == _WORD)
        if is_content or (fits and step.lost):
            return self._beyond(step, self.content)
        return self._beyond(step, self.deleted[self.kinds[byte]])

    cdef int32_t _cost_with(
        self, int32_t state, uint8_t byte_class, uint8_t facts, uint8_t* chosen
    ) except -1:
        """The cost of adding a byte of a class; sets whether it is chosen."""
        chosen[0] = False
        if facts & _IS_WITHIN:
            return self.within
        if self._is_content(state, byte_class, facts):
            chosen[0] = True
            return self.chosen
        if self.kinds[self.spelled[byte_class]] == _WORD:
            chosen[0] = not facts & _IS_FORCED
            return self.chosen if chosen[0] else self.forced
        return self.inserted[self.kinds[self.spelled[byte_class]]]

    cdef int32_t _beyond(self, _Trial& step, int32_t cost) except -1:
        """What an edit costs that costs so much elsewhere."""
        if cost >= self.marker or not self._facts(step.state) & _IS_FREE:
            return cost
        if step.state == self.initial or self._is_complete(step.state):
            if self._leads_out(step.state, step.position):
                return self.marker
        return cost

    cdef bint _leads_out(self, int32_t state, int32_t position) except -1:
        """Return whether the text, read on from a free state, comes to one that is not free."""
        cdef vector[uint64_t] path
        cdef int32_t result = UNKNOWN
        cdef uint64_t key
        while result == UNKNOWN:
            path.push_back(_key(state, position))
            result = self.leading.get(path.back())
            if result != UNKNOWN:
                break
            if not self._facts(state) & (_IS_FREE | _IS_WITHIN):
                result = True
            elif position == self.size or (self.is_eager and self.explorer.completions[state]):
                result = False
            else:
                state = self.explorer.step_alone(state, self.explorer.classes[self.data[position]])
                position += 1
                if state == DEAD:
                    result = False
        for key in path:
            self.leading.put(key, result)
        return result

    cdef bint _is_content(self, int32_t state, uint8_t byte_class, uint8_t facts) except -1:
        """Return whether a byte leads from a free state to a free one."""
        if not facts & _IS_FREE:
            return False
        return self._facts(self.explorer.step_alone(state, byte_class)) & _IS_FREE != 0


cdef int32_t _thousandths(double cost) noexcept:
    return <int32_t> (1000 * cost + 0.5)


cdef bint _is_character(bytes text) except -1:
    try:
        return len(text.decode()) == 1
    except UnicodeDecodeError:
        return False
