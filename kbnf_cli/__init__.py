"""The ``kbnf`` command: thin commands that read, call ``kbnf_core``, and render."""
