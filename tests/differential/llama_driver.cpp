// Reads a GBNF grammar from stdin; the exit status says whether llama.cpp's own parser takes it.
// What that parser needs of the rest of llama.cpp is here: a log, a way to stop, no vocabulary.

#include "llama-grammar.h"
#include "llama-impl.h"
#include "llama-vocab.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>

void llama_log_internal(ggml_log_level, const char * format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
}

extern "C" void ggml_abort(const char *, int, const char *, ...) { std::abort(); }

int32_t llama_vocab::tokenize(const char *, int32_t, llama_token *, int32_t, bool, bool) const { std::abort(); }

int main() {
    const std::string text((std::istreambuf_iterator<char>(std::cin)), {});
    const auto * grammar =
        llama_grammar_init_impl(nullptr, text.c_str(), "root", false, nullptr, 0, nullptr, 0);
    return grammar == nullptr ? 1 : 0;
}
