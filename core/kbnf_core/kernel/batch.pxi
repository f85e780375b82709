# The masks of a batch, copied into the rows of one bitmask by threads that outlive the call.
#
# **Layer.** The highest: it asks engines for their masks, in one thread, and copies words in
# several.

from os import getpid

from libcpp.memory cimport make_shared, shared_ptr

cdef extern from *:
    """
    #include <atomic>
    #include <chrono>
    #include <condition_variable>
    #include <cstring>
    #include <deque>
    #include <memory>
    #include <mutex>
    #include <system_error>
    #include <thread>
    #include <vector>

    namespace kbnf {

    /* Without a source and operands everything is allowed. */
    struct Row {
        char *target;
        const char *source;
        std::ptrdiff_t length;
        const std::vector<Operand> *operands;

        void copy(std::ptrdiff_t width) const {
            if (operands != nullptr) {
                write_union(*operands, (uint32_t *)target, length / 4, width / 4);
            } else if (source == nullptr) {
                std::memset(target, 0xFF, width);
            } else {
                std::memcpy(target, source, length);
                std::memset(target + length, 0, width - length);
            }
        }
    };

    /* Rows to copy, while the list is still being made. Each thread fetches its next rows itself,
       so a late thread delays nobody: the caller copies all remaining rows, and waits only for rows
       that another thread has begun. */
    class Rows {
        static constexpr std::ptrdiff_t at_once = 8;
        std::vector<Row> rows;
        const std::ptrdiff_t width;
        std::atomic<std::ptrdiff_t> listed{0}, begun{0}, done{0};
        std::atomic<bool> complete{false};

        bool copy_some() {
            std::ptrdiff_t first = begun.load(), end;
            do {
                end = listed.load(std::memory_order_acquire);
                if (first >= end) return false;
                if (end - first > at_once) end = first + at_once;
            } while (!begun.compare_exchange_weak(first, end));
            for (std::ptrdiff_t row = first; row < end; ++row) rows[row].copy(width);
            done.fetch_add(end - first, std::memory_order_release);
            return true;
        }

    public:
        std::atomic<unsigned> gone{0};

        /* All room at once: ``add`` may not move rows that another thread is reading. */
        Rows(std::ptrdiff_t count, std::ptrdiff_t bytes) : width(bytes) { rows.reserve(count); }

        void add(const Row &row) {
            rows.push_back(row);
            listed.store(rows.size(), std::memory_order_release);
        }

        /* Where masks are computed first the list may take long: then a helper goes. */
        void help() {
            using clock = std::chrono::steady_clock;
            auto late = clock::now() + std::chrono::microseconds(100);
            while (!complete.load()) {
                if (copy_some()) {
                    late = clock::now() + std::chrono::microseconds(100);
                } else if (clock::now() > late) {
                    ++gone;
                    return;
                } else {
                    std::this_thread::yield();
                }
            }
            while (copy_some()) {}
        }

        void finish() {
            complete.store(true);
            while (copy_some()) {}
            while (done.load(std::memory_order_acquire) < listed.load())
                std::this_thread::yield();
        }
    };

    /* Threads that wait for rows. They are never joined, and what they wait on is never freed:
       they end with the process. */
    class Helpers {
        std::mutex lock;
        std::condition_variable wanted;
        std::deque<std::shared_ptr<Rows>> waiting;
        unsigned started = 0;

        void serve() {
            for (;;) {
                std::unique_lock<std::mutex> guard(lock);
                wanted.wait(guard, [this] { return !waiting.empty(); });
                const std::shared_ptr<Rows> rows = std::move(waiting.front());
                waiting.pop_front();
                guard.unlock();
                rows->help();
            }
        }

    public:
        /* A fork copies no threads, but a lock that one may have taken: so a child has its own.
           Called with the GIL only, which guards the two variables. */
        static Helpers &of_process(long process) {
            static Helpers *helpers = nullptr;
            static long owner = -1;
            if (owner != process) {
                helpers = new Helpers;
                owner = process;
            }
            return *helpers;
        }

        void call(const std::shared_ptr<Rows> &rows, unsigned count) {
            {
                const std::lock_guard<std::mutex> guard(lock);
                try {
                    for (; started < count; ++started)
                        std::thread([this] { serve(); }).detach();
                } catch (const std::system_error &) {
                    count = started;
                }
                for (unsigned i = 0; i < count; ++i) waiting.push_back(rows);
            }
            for (unsigned i = 0; i < count; ++i) wanted.notify_one();
        }

        void call_back(const std::shared_ptr<Rows> &rows) { call(rows, rows->gone); }
    };

    }
    """
    cppclass Row "kbnf::Row":
        char* target
        const char* source
        Py_ssize_t length
        const vector[Operand]* operands
        void copy(Py_ssize_t width) noexcept

    cppclass Rows "kbnf::Rows":
        Rows(Py_ssize_t count, Py_ssize_t width) except +
        void add(const Row& row) noexcept
        void finish() noexcept nogil

    cppclass Helpers "kbnf::Helpers":
        @staticmethod
        Helpers& of_process(long process) except +
        void call(const shared_ptr[Rows]& rows, unsigned count) except +
        void call_back(const shared_ptr[Rows]& rows) except +

    unsigned processors "std::thread::hardware_concurrency" () noexcept


def fill_rows(
    cnp.ndarray out not None,
    const int64_t[::1] rows,
    list engines not None,
    Py_ssize_t threads,
):
    """Do for ``out[rows[i]]``, or ``out[i]``, what ``engines[i].fill_bitmask`` does.

    Without an engine a row allows everything. More than one of ``threads``, at most one for each
    processor, share the copying without the GIL; they are kept. Raises ValueError, before anything
    is written, unless ``out`` is two-dimensional contiguous int32 and has all these rows, each long
    enough.
    """
    cdef shared_ptr[Rows] work
    cdef Helpers* helpers
    cdef list masks
    if (
        cnp.PyArray_TYPE(out) != cnp.NPY_INT32
        or cnp.PyArray_NDIM(out) != 2
        or not cnp.PyArray_ISCARRAY(out)
        or (rows is not None and rows.shape[0] != len(engines))
    ):
        raise ValueError("bitmasks are the rows of a contiguous int32 array")
    if threads > 1:
        # Asking the system takes longer than writing a row.
        threads = min(threads, processors() or threads)
    if threads <= 1:
        # One thread needs neither the list nor its atomic counters.
        _check_rows(cnp.PyArray_DIM(out, 0), cnp.PyArray_DIM(out, 1), rows, engines)
        _list_rows(NULL, out, rows, engines, None)
        return
    masks = []
    work = make_shared[Rows](<Py_ssize_t> len(engines), <Py_ssize_t> cnp.PyArray_DIM(out, 1) * 4)
    # Waking a helper takes as long as making the list, so it is done first.
    helpers = &Helpers.of_process(getpid())
    helpers.call(work, threads - 1)
    try:
        _check_rows(cnp.PyArray_DIM(out, 0), cnp.PyArray_DIM(out, 1), rows, engines)
        _list_rows(work.get(), out, rows, engines, masks)
        helpers.call_back(work)
    finally:
        # Also after an error: a helper may still be writing rows of ``out``.
        with nogil:
            work.get().finish()


cdef int _check_rows(
    Py_ssize_t count, Py_ssize_t width, const int64_t[::1] rows, list engines
) except -1:
    cdef Py_ssize_t index
    for index in range(len(engines)):
        if not 0 <= (index if rows is None else rows[index]) < count:
            raise ValueError(f"the bitmask has no row {index if rows is None else rows[index]}")
        if engines[index] is not None:
            _check_width((<EngineCore?> engines[index]).nothing, width)
    return 0


cdef int _check_width(cnp.ndarray words, Py_ssize_t width) except -1:
    if cnp.PyArray_DIM(words, 0) > width:
        raise ValueError(f"a bitmask of {width} words is too short for {len(words)}")
    return 0


cdef int _list_rows(
    Rows* work, cnp.ndarray out, const int64_t[::1] rows, list engines, list masks
) except -1:
    """List the rows to write, and keep their owners in ``masks``; without ``work`` write them."""
    cdef Py_ssize_t index, width = cnp.PyArray_DIM(out, 1)
    cdef EngineCore engine
    cdef cnp.ndarray words
    cdef Row row
    for index in range(len(engines)):
        row.target = <char*> cnp.PyArray_DATA(out)
        row.target += (index if rows is None else rows[index]) * width * 4
        row.source = NULL
        row.operands = NULL
        engine = engines[index]
        if engine is not None:
            row.operands = engine._find_operands()
        if row.operands != NULL:
            row.length = engine.masks.rows.width * 4
        elif engine is not None:
            words = engine._row_words()
            _check_width(words, width)
            row.source = <const char*> cnp.PyArray_DATA(words)
            row.length = cnp.PyArray_DIM(words, 0) * 4
        if work is NULL:
            row.copy(width * 4)
        else:
            if engine is not None:
                # An engine that is asked later may renew the caches that this row is copied from.
                masks.append(engine.masks if row.operands != NULL else words)
            work.add(row)
    return 0
