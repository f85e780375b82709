"""Artifacts: a compiled grammar on disk, its text and its tables.

The file is a safetensors container (see ``container.py``): named, aligned arrays that can be
memory-mapped, and metadata: ``kbnf``, the manifest, and ``digest``, the BLAKE2b-128 of the manifest
as JSON in ASCII with sorted keys and no spaces. Nothing in it is code. Equal input to one version
gives equal bytes.

States and masks are not stored: to read and to verify them takes longer than to compute those that
a text needs. So an artifact is for every vocabulary, unless the grammar was read over one: where
``<any!>`` of BNF stands for its tokens, or a structural tag excludes some.

**Manifest** (JSON): ``format`` (the number ``FORMAT``), ``tool`` (the version that wrote it),
``start``, ``kbnf_start`` (the start of the text as KBNF), ``language`` (of the source; null for
KBNF that was written of a text without rules), ``finish``, ``nonterminals`` (names by number),
``token_terminals`` (each
``{"name", "ranges", "negated"}``), ``start_is_nullable``, ``source_path``, ``source_hash``
(BLAKE2b-128 of the source), ``limits`` (those of compiling, by name), ``key`` (that of a store
under which it was compiled, null elsewhere), ``unicode`` (version of the tables after property
classes), ``vocabulary``: null, or ``{"name", "fingerprint"}`` of the vocabulary over which the
grammar was read, and ``sections``: by name, ``{"arrays": [names], "digest": ...}`` with
``container.digest`` of these arrays.

**Sections.** An engine needs ``tables``, which are verified when the file is loaded; ``reading``
and ``values`` are verified on first use. Damage is an ``ArtifactError``. Names that a reader does
not know are skipped, so a version can add sections that others do without. ``values`` is there for
structural tags and calls of tools in the format of a model: without it the value of a text is one
of JSON.

A digest reveals damage, not intent: everything read is validated before use as well
(``validate.py``).

**Arrays**, int32 unless said otherwise. A list of lists is two arrays, ``x.start`` with one more
entry than lists, and the elements; list i is ``x[start[i]:start[i + 1]]``.

Of ``tables``:

- ``source`` (uint8): the grammar's text, UTF-8; of a text without rules, its KBNF.
- ``classes`` (uint8), ``entry``, ``accepting`` (uint8), ``edge.start``, ``edge.class``,
  ``edge.target``, ``call.start``, ``call.nonterminal``, ``call.return``, ``call.tail`` (uint8),
  ``token.start``, ``token.terminal``, ``token.target``: the fields of ``tables.Tables``.
- ``loop.of``, ``loop.row``, ``loop.twin``, ``loop.last``, ``loop.begins`` (uint8),
  ``loop.is_below`` (uint8), ``loop.low``, ``loop.high``: those of ``tables.Loops``.

Of ``reading`` (``reading.py``), so that commands need not read the text:

- ``about`` (uint8): JSON in ASCII: ``losses`` and ``findings`` (``text.diagnostics.stored``),
  ``is_endless``, ``names`` ({name: span}), and where there are rules ``start``, ``rules`` ({name:
  node}), ``calls`` (names that nodes call, by number) and ``terminals``.
- ``kbnf`` (uint8): the grammar as KBNF, where its text is in another language.
- ``rule.nodes`` ([n, 5]): kind, the two ends of the span, and two numbers: of a literal its number;
  of a regular expression that of its automaton; of a token that of its terminal; of a call that of
  its name; of a repetition its bounds, -1 for none. ``rule.parts``: the nodes that are parts of
  each; they come before it. ``rule.literals`` (uint8); ``rule.classes`` ([n, 256], uint8),
  ``rule.edges`` ([m, 3]: state, class, target) and ``rule.accepting`` (uint8): the automata.

Of ``values``:

- ``values`` (uint8): JSON, the rules that say what values are made of, as KBNF, and their marks.

Tests: tests/unit/artifact/test_artifact.py
"""

FORMAT = 6
"""Raised whenever a reader of the older format would misread the newer one."""

SUFFIX = ".kbnfc"
"""The suffix of artifacts."""
