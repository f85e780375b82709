// Reads a GBNF grammar from stdin; the exit status says whether llama.cpp's own parser takes it.
// For each file that is named, a line says whether the grammar takes it (0, 1, or 2 where there are
// more than MOST_STACKS stacks) and how many stacks there were at most.
// What that parser needs of the rest of llama.cpp is here: a log, a way to stop, no vocabulary.

#include "llama-grammar.h"
#include "llama-impl.h"
#include "llama-vocab.h"
#include "unicode.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

static const size_t MOST_STACKS = 20000;

void llama_log_internal(ggml_log_level, const char * format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
}

extern "C" void ggml_abort(const char *, int, const char *, ...) { std::abort(); }

int32_t llama_vocab::tokenize(const char *, int32_t, llama_token *, int32_t, bool, bool) const { std::abort(); }

static std::string read(std::istream & stream) { return std::string((std::istreambuf_iterator<char>(stream)), {}); }

static void follow(llama_grammar * grammar, const std::string & text) {
    const auto & stacks = llama_grammar_get_stacks(grammar);
    size_t most = stacks.size();
    for (const uint32_t character : unicode_cpts_from_utf8(text)) {
        llama_grammar_accept(grammar, character);
        most = std::max(most, stacks.size());
        if (stacks.empty() || most > MOST_STACKS) break;
    }
    const bool ends = std::any_of(stacks.begin(), stacks.end(), [](const auto & stack) { return stack.empty(); });
    std::printf("%d %zu\n", most > MOST_STACKS ? 2 : ends ? 0 : 1, most);
    std::fflush(stdout);
}

int main(int count, char ** names) {
    const std::string text = read(std::cin);
    auto * grammar = llama_grammar_init_impl(nullptr, text.c_str(), "root", false, nullptr, 0, nullptr, 0);
    if (grammar == nullptr) return 1;
    for (int i = 1; i < count; i++) {
        std::ifstream file(names[i], std::ios::binary);
        // A copy, since what has been accepted cannot be taken back.
        follow(llama_grammar_clone_impl(*grammar), read(file));
    }
    return 0;
}
