# The memory that containers take from the allocator, so that it is counted and not guessed.
#
# Capacities as the GNU library has them, with what its allocator adds to a block; another library
# differs by little. Numbers, pointers and structures of them take nothing beside their container.

cdef extern from *:
    """
    #include <deque>
    #include <map>
    #include <set>
    #include <string>
    #include <unordered_map>
    #include <utility>
    #include <vector>

    namespace kbnf {

    inline size_t block(size_t bytes) {
        return bytes == 0 ? 0 : bytes <= 24 ? 32 : (bytes + 8 + 15) & ~(size_t)15;
    }

    template <class T> inline size_t held(const T &) { return 0; }
    inline size_t held(const std::string &text);
    template <class A, class B> size_t held(const std::pair<A, B> &both);
    template <class T> size_t held(const std::vector<T> &list);
    template <class T> size_t held(const std::deque<T> &list);
    template <class T> size_t held(const std::set<T> &members);
    template <class K, class V> size_t held(const std::map<K, V> &map);
    template <class K, class V> size_t held(const std::unordered_map<K, V> &map);

    template <class C> inline size_t held_within(const C &container) {
        size_t bytes = 0;
        for (const auto &each : container) bytes += held(each);
        return bytes;
    }
    inline size_t held(const std::string &text) {
        return text.capacity() > 15 ? block(text.capacity() + 1) : 0;
    }
    template <class A, class B> size_t held(const std::pair<A, B> &both) {
        return held(both.first) + held(both.second);
    }
    template <class T> size_t held(const std::vector<T> &list) {
        return block(list.capacity() * sizeof(T)) + held_within(list);
    }
    template <class T> size_t held(const std::deque<T> &list) {
        const size_t in_block = sizeof(T) < 512 ? 512 / sizeof(T) : 1;
        const size_t blocks = list.size() / in_block + 1;
        return blocks * block(in_block * sizeof(T)) + block(sizeof(void *) * (blocks + 8))
            + held_within(list);
    }
    template <class T> size_t held(const std::set<T> &members) {
        return members.size() * block(32 + sizeof(T)) + held_within(members);
    }
    template <class K, class V> size_t held(const std::map<K, V> &map) {
        return map.size() * block(32 + sizeof(std::pair<const K, V>)) + held_within(map);
    }
    template <class K, class V> size_t held(const std::unordered_map<K, V> &map) {
        const size_t node = sizeof(void *) + sizeof(size_t) + sizeof(std::pair<const K, V>);
        return map.size() * block(node) + block(sizeof(void *) * map.bucket_count())
            + held_within(map);
    }
    // Cython names the type of what it calls, which would hide the kinds of containers above.
    template <class C> inline size_t memory_of(const C &container) { return held(container); }

    }
    """
    size_t held "kbnf::memory_of"[T](const T& container) noexcept nogil
    size_t block "kbnf::block"(size_t size) noexcept nogil
