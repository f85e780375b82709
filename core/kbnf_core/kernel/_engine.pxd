# cython: language_level=3
# The declarations of ``_engine`` that ``_trees`` compiles against: the arrays of a grammar's
# tables, and the classes of its recogniser. ``containers.pxi``, ``items.pxi`` and
# ``lazy_table.pxi`` have their docstrings and bodies; a C method of these classes is declared
# here, too.
#
# ``_trees`` calls them through their method tables, since an extension module cannot inline what
# another one defines; only the functions with a body here are inlined on both sides.

cimport cython

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.deque cimport deque
from libcpp.set cimport set as ordered_set
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.utility cimport pair
from libcpp.vector cimport vector

ctypedef pair[int32_t, int32_t] Pair
ctypedef pair[int32_t, Pair] Triple  # (nonterminal, (parent node, item set to resume))

cdef enum:
    DEAD = 0
    EMPTY = 0
    BOTTOM = 0
    SELF = -1
    UNKNOWN = -1

# Contents of any length, in chunks instead of each in a block of its own: the table of a large
# grammar has millions, and memory that is allocated together is freed at once.
cdef extern from * nogil:
    """
    #include <algorithm>
    #include <memory>
    #include <type_traits>
    #include <vector>

    namespace kbnf {

    /* Elements that follow each other in an arena, and do not move. */
    template <class T> class Span {
        T *first = nullptr;
        size_t count = 0;

      public:
        Span() = default;
        Span(T *begin, size_t size) : first(begin), count(size) {}
        T *begin() const { return first; }
        T *end() const { return first + count; }
        size_t size() const { return count; }
        bool empty() const { return count == 0; }
        T &operator[](size_t index) const { return first[index]; }
        std::vector<T> copied() const { return std::vector<T>(begin(), end()); }
        bool equals(const std::vector<T> &other) const {
            return count == other.size() && std::equal(begin(), end(), other.begin());
        }
    };

    /* Memory that is taken in parts and freed as a whole. */
    template <class T> class Arena {
        static_assert(std::is_trivially_destructible<T>::value, "elements are dropped");
        enum : size_t { least = 512, most = 1 << 20 };
        struct Free { void operator()(T *chunk) const { ::operator delete(chunk); } };
        std::vector<std::unique_ptr<T, Free>> chunks;
        T *next = nullptr;
        size_t left = 0, all = 0;

      public:
        /* Room for elements, which are not initialised. */
        T *room_for(size_t count) {
            if (count > left) {
                /* As much again as there is: of a small table nothing much is left over. */
                const size_t wanted = all < least ? least : all > most ? most : all;
                const size_t size = std::max(count, wanted / sizeof(T));
                chunks.emplace_back(static_cast<T *>(::operator new(size * sizeof(T))));
                all += size * sizeof(T);
                if (size - count < left) return chunks.back().get();
                next = chunks.back().get();
                left = size;
            }
            T *found = next;
            next += count;
            left -= count;
            return found;
        }
        T *take(size_t count, T value) {
            T *found = room_for(count);
            std::uninitialized_fill_n(found, count, value);
            return found;
        }
        /* A copy of elements, with room for some more after it. */
        Span<T> keep(const std::vector<T> &elements, size_t spare = 0) {
            T *found = room_for(elements.size() + spare);
            std::uninitialized_copy(elements.begin(), elements.end(), found);
            return Span<T>(found, elements.size());
        }
        size_t bytes() const { return all; }
    };

    }
    """
    cppclass Span "kbnf::Span"[T]:
        Span()
        Span(T* begin, size_t size)
        T* begin()
        T* end()
        size_t size()
        bint empty()
        T& operator[](size_t index)
        vector[T] copied()
        bint equals(vector[T]& other)

    cppclass Arena "kbnf::Arena"[T]:
        T* take(size_t count, T value) except +
        Span[T] keep(vector[T]& elements) except +
        Span[T] keep(vector[T]& elements, size_t spare) except +
        size_t bytes()


cdef extern from *:
    """
    #include <stdint.h>
    #define KBNF_NEVER ((int64_t) 1 << 60)
    """
    # The cost of an unreachable node.
    int64_t _NEVER "KBNF_NEVER"


cdef inline uint64_t _key(int32_t high, int32_t low) noexcept nogil:
    return (<uint64_t> <uint32_t> high << 32) | <uint32_t> low


cdef inline uint64_t _mixed(uint64_t value) noexcept nogil:
    """A value whose low bits depend on all of it."""
    value = (value ^ (value >> 32)) * <uint64_t> 0x9E3779B97F4A7C15ULL
    return value ^ (value >> 29)


cdef inline uint64_t _hash_bytes(uint64_t seed, const void* data, size_t size) noexcept nogil:
    """A hash of integers; ``size`` is in bytes, a multiple of four."""
    cdef const uint32_t* values = <const uint32_t*> data
    cdef size_t i
    for i in range(size // 4):
        seed = (seed ^ values[i]) * <uint64_t> 0x9E3779B97F4A7C15ULL
        seed ^= seed >> 32
    return seed


cdef inline bint _has(vector[int32_t]& numbers, int32_t wanted) noexcept nogil:
    """Return whether a short list has a number."""
    cdef size_t i
    for i in range(numbers.size()):
        if numbers[i] == wanted:
            return True
    return False


@cython.final
cdef class _Index:
    cdef vector[int32_t] slots
    cdef vector[uint64_t] hashes

    cdef size_t memory(self) noexcept
    cdef inline int32_t next(self, uint64_t hashed, size_t* at) noexcept
    cdef int32_t add(self, uint64_t hashed) except -1
    cdef inline void _insert(self, int32_t number) noexcept


@cython.final
cdef class _Map:
    cdef vector[uint64_t] keys
    cdef vector[int32_t] values
    cdef size_t count

    cdef size_t memory(self) noexcept
    cdef inline int32_t get(self, uint64_t key) noexcept
    cdef inline size_t _slot(self, uint64_t key) noexcept
    cdef int put(self, uint64_t key, int32_t value) except -1


@cython.final
cdef class _Room:
    cdef size_t left
    cdef int64_t limit
    cdef object names

    cdef inline int check(self, size_t count, int64_t nonterminal) except -1
    cdef inline int take(self, size_t count, int64_t nonterminal) except -1
    cdef int _refuse(self, int64_t nonterminal) except -1


@cython.final
cdef class _Lists:
    cdef vector[Span[int64_t]] contents
    cdef Arena[int64_t] arena
    cdef _Index index
    cdef _Room room
    cdef int64_t radix
    cdef size_t size

    cdef size_t memory(self) noexcept
    cdef int32_t find(self, vector[int64_t]& values) except -1


cdef class _Tables:
    cdef const int32_t[::1] edge_start
    cdef const int32_t[::1] edge_class
    cdef const int32_t[::1] edge_target
    cdef const int32_t[::1] call_start
    cdef const int32_t[::1] call_nonterminal
    cdef const int32_t[::1] call_return
    cdef const uint8_t[::1] call_tail
    cdef const int32_t[::1] token_start
    cdef const int32_t[::1] token_terminal
    cdef const int32_t[::1] token_target
    cdef const int32_t[::1] entry
    cdef const uint8_t[::1] accepting
    cdef const uint8_t[::1] classes
    # Counts by state and by loop; see ``lower.counts``.
    cdef const int32_t[::1] loop_of
    cdef const int32_t[::1] loop_row
    cdef const int32_t[::1] loop_twin
    cdef const int32_t[::1] loop_last
    cdef const uint8_t[::1] loop_begins
    cdef const uint8_t[::1] loop_below
    cdef const int32_t[::1] loop_low
    cdef const int32_t[::1] loop_high
    # The numbers of automaton states and of nonterminals, and whether anything is counted.
    cdef int32_t states
    cdef int32_t names
    cdef bint has_loops

    cdef int bind(self, tables) except -1


@cython.final
cdef class ItemSets(_Tables):
    cdef _Lists sets
    cdef _Room room
    cdef Py_ssize_t width
    cdef int64_t radix
    # Of states that are counted: row and count, by number less ``states``; and the other way round.
    cdef vector[Pair] counted_states
    cdef _Map counted_numbers
    # By item set; valid where ``facts`` has the bit.
    cdef vector[uint8_t] facts
    cdef vector[int32_t] live_sets
    cdef vector[Span[int32_t]] completed_lists
    cdef vector[Span[int32_t]] report_lists
    cdef vector[Span[Pair]] calls
    cdef Arena[Pair] call_arena
    cdef vector[uint8_t] kinds
    # By nonterminal: whether it is a piece, 0 while nobody asked.
    cdef vector[uint8_t] brief_flags
    # By item set: its row of moves, one by byte class; NULL while nobody asked. Rows never move,
    # and none is made in advance: memory that is touched for the first time costs more than the
    # work.
    cdef vector[int32_t*] rows
    # The rows are here, those of targets too, and the lists of nonterminals above.
    cdef Arena[int32_t] arena
    # By automaton state: its row of targets, NULL while nobody asked: by byte class, one more than
    # the target, DEAD without one, UNKNOWN for several.
    cdef vector[int32_t*] targets
    # Those of the items of the set laid out last.
    cdef vector[int32_t*] columns
    cdef unordered_map[int32_t, vector[int32_t]] tail_called
    # By item: the closed set of this one alone.
    cdef _Map single
    cdef _Map unions
    cdef unordered_map[string, int32_t] predictions

    cdef size_t memory(self) noexcept
    cdef int _name(self, vector[int64_t]& items) except -1
    cdef inline int32_t row_of(self, int32_t state) noexcept
    cdef inline int32_t unbounded(self, int32_t state) noexcept
    cdef inline int32_t target(self, int32_t source, int32_t row) except -1
    cdef int32_t _count(self, int32_t source, int32_t row) except -1
    cdef int32_t counted(self, int32_t row, int32_t count) except -1
    cdef inline Span[int64_t] of(self, int32_t item_set) noexcept
    cdef bint _knows(self, int32_t item_set, uint8_t flag) except -1
    cdef inline int32_t move(self, int32_t item_set, int32_t byte_class) except -2
    cdef inline bint can_move(self, int32_t item_set, int32_t byte_class) except -1
    cdef inline bint move_alike(self, int32_t item_set, int32_t one, int32_t other) except -1
    cdef inline int32_t* row(self, int32_t item_set) except NULL
    cdef int32_t* _make_row(self, int32_t item_set) except NULL
    cdef int32_t _find_move(self, int32_t item_set, int32_t byte_class) except -2
    cdef bint _has_few_edges(self, int32_t item_set) noexcept
    cdef bint _lay_out(self, int32_t item_set, int32_t byte_class) except -1
    cdef int32_t* targets_of(self, int32_t state) except NULL
    cdef inline bint _is_alike(self, int32_t one, int32_t other) noexcept
    cdef int32_t _move_by_targets(self, int32_t item_set, int32_t byte_class) except -2
    cdef inline uint8_t kind(self, int32_t item_set) except 0
    cdef uint8_t _find_kind(self, int32_t item_set) except 0
    cdef int32_t _move_by_search(self, int32_t item_set, int32_t byte_class) except -2
    cdef int32_t _first_edge(self, int32_t state, int32_t byte_class) noexcept
    cdef int32_t _intern(self, vector[int64_t]& items) except -2
    cdef int32_t _find_closed(self, vector[int64_t]& items) except -2
    cdef int32_t _number(self, vector[int64_t]& items) except -2
    cdef vector[int32_t]* _with_tail_calls(self, int32_t state) except NULL
    cdef int32_t live(self, int32_t item_set) except -2
    cdef bint _goes_on(self, int32_t state) noexcept
    cdef inline bint accepts(self, int32_t state) noexcept
    cdef inline bint has_calls(self, int32_t state) noexcept
    cdef inline int32_t edge_count(self, int32_t state) noexcept
    cdef inline bint has_tokens(self, int32_t state) noexcept
    cdef inline bint is_plain(self, int32_t state) noexcept
    cdef bint expects_tokens(self, int32_t item_set) noexcept
    cdef int32_t after_token(self, int32_t item_set, ordered_set[int32_t]& terminals) except -2
    cdef int add_terminals(self, int32_t item_set, ordered_set[int32_t]& terminals) except -1
    cdef Span[int32_t] completed(self, int32_t item_set) except *
    cdef Span[int32_t] reported(self, int32_t item_set) except *
    cdef Span[int32_t] _keep(self, ordered_set[int32_t]& numbers) except *
    cdef Span[Pair] waits(self, int32_t item_set) except *
    cdef Span[Pair] _find_waits(self, int32_t item_set) except *
    cdef bint repeats(self, int32_t item_set) except -1
    cdef bint _find_repeats(self, int32_t item_set) except -1
    cdef bint _is_brief(self, int32_t nonterminal) except -1
    cdef bint _find_brief(self, int32_t nonterminal) except -1
    cdef int32_t joined(self, int32_t one, int32_t other) except -2
    cdef int32_t united(self, vector[Pair]& pairs, size_t first, size_t last) except -2
    cdef int32_t entries(self, vector[int32_t] nonterminals) except -2
    cdef int32_t predicted(self, vector[int32_t]& called) except -2
    cdef int32_t _predict(self, vector[int32_t]& called) except -2


@cython.final
cdef class StackNodes:
    cdef readonly size_t size
    cdef vector[Span[Triple]] nodes
    cdef Arena[Triple] arena
    cdef _Index index
    cdef _Room room
    cdef ItemSets items
    cdef _Map narrowed

    cdef size_t memory(self) noexcept
    cdef int32_t find(self, vector[Triple]& edges) except -2
    cdef Span[Triple] waiters(self, Pair complete) noexcept
    cdef int32_t narrow(self, int32_t stack_node, int32_t item_set) except -2
    cdef int32_t _find_narrow(self, int32_t stack_node, int32_t item_set) except -2


cdef inline Pair _resuming(const Triple& triple, int32_t stack_node) noexcept nogil:
    """The (stack node, item set) that resumes by a triple of a node."""
    # SELF is resolved here. A node is named by its content, which therefore cannot contain the
    # number of the node.
    cdef int32_t below = triple.second.first
    return Pair(stack_node if below == SELF else below, triple.second.second)


@cython.final
cdef class Configurations:
    # Of pairs with room for one more, the one that they predict.
    cdef vector[Span[Pair]] all_pairs
    cdef vector[Span[int32_t]] all_exits
    cdef Arena[Pair] pair_arena
    cdef Arena[int32_t] exit_arena
    cdef _Index index
    cdef _Room room
    cdef readonly size_t size

    cdef size_t memory(self) noexcept
    cdef int32_t find(self, vector[Pair]& pairs, vector[int32_t]& completions) except -1


@cython.final
cdef class LazyTable:
    cdef object acquire
    cdef object release
    cdef const uint8_t[::1] class_view
    # By state: its row, ``unknown_row`` before the first step. Rows never move.
    cdef vector[int32_t*] rows
    cdef Arena[int32_t] arena
    cdef vector[int32_t] unknown_row
    # By state: whether something completes into BOTTOM.
    cdef vector[uint8_t] completions
    cdef const uint8_t* classes
    cdef Py_ssize_t width
    cdef ItemSets items
    cdef StackNodes stack
    # By state: one more than the pairs that are predicted, 0 while nobody asked.
    cdef vector[uint8_t] predicting
    cdef _Map settled
    # By stack node and nonterminal: see ``resumed``.
    cdef _Map resumptions
    cdef Configurations configurations
    # By class, of the state in progress: whether some item set has a transition.
    cdef vector[uint8_t] lives
    # By state: its place in a walk; see ``cursor``.
    cdef vector[int32_t] cursors

    cdef inline int32_t* row_of(self, int32_t state) noexcept
    cdef inline int32_t* live_row(self, int32_t state) except NULL
    cdef int32_t* _make_row(self, int32_t state) except NULL
    cdef int _check(self, int32_t state, uint8_t byte_class) except -1
    cdef inline int32_t step(self, int32_t state, uint8_t byte_class) except -2
    cdef int32_t _find_step(self, int32_t state, uint8_t byte_class) except -2
    cdef inline int32_t step_alone(self, int32_t state, uint8_t byte_class) except -2
    cdef int32_t _step_alone(self, int32_t state, uint8_t byte_class) except -2
    cdef int32_t run(self, int32_t* state, const uint8_t* data, int32_t count) except -1
    cdef int32_t _begin(self, int32_t item_set) except -2
    cdef Span[Pair] _checked_sources(self, int32_t state) except *
    cdef Py_ssize_t state_count(self) except -1
    cdef Py_ssize_t entry_count(self) noexcept
    cdef inline int32_t cursor(self, int32_t state) except? 0
    cdef inline int32_t* row(self, int32_t cursor) except NULL
    cdef int32_t cursor_above(self, int32_t item_set) except? 0
    cdef int32_t cursor_apart(self, int32_t item_set) except? 0
    cdef inline int32_t arrive(self, int32_t cursor, uint8_t byte_class, int32_t* ended) except? 0
    cdef Span[int32_t] ends(self, int32_t ended) except *
    cdef int32_t lift(self, int32_t item_set) except -2
    cdef int32_t _explore(self, int32_t state, uint8_t byte_class) except -2
    cdef int _move(self, int32_t state, uint8_t byte_class, vector[Pair]& reached) except -1
    cdef inline int32_t _settle_moved(self, vector[Pair]& reached) except -2
    cdef int _spread(self, int32_t state, uint8_t byte_class, int32_t target) except -1
    cdef int32_t _settle_one(self, Pair reached) except -2
    cdef int32_t resumed(self, Pair complete) except -2
    cdef int32_t _settle(self, vector[Pair]& reached) except -2
    cdef int32_t _intern(self, vector[Pair]& reached, vector[int32_t]& completions) except -2
    cdef int _unite(self, vector[Pair]& pairs, vector[Pair]& united) except -1
    cdef int32_t _number(self, vector[Pair]& pairs, vector[int32_t]& completions) except -2
    cdef Span[Pair] _sources(self, int32_t state) except *
    cdef int _bury(self, int32_t state, int32_t* row) except -1
    cdef bint _predict(self, Span[Pair] pairs) except -1


cdef class _StateCosts:
    cdef int64_t of_state(self, int32_t state) except -1
