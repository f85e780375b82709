"""Regular expressions in the syntax of Rust's ``regex`` crate, compiled to byte automata."""
