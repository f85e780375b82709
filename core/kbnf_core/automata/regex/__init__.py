"""Regular expressions in the syntax of Rust's ``regex`` crate, compiled to byte automata."""

from kbnf_core.automata.regex.compile import Compiled, compile_regex
from kbnf_core.automata.regex.reader import RegexProblem

__all__ = ["Compiled", "RegexProblem", "compile_regex"]
