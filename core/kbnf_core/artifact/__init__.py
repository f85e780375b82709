"""Artifacts: a compiled grammar on disk, with its states and its masks over a vocabulary.

The file is a safetensors container (see ``container.py``): named, aligned arrays that can be
memory-mapped, and metadata: ``kbnf``, the manifest, and ``digest``, the BLAKE2b-128 of the manifest
as JSON in ASCII with sorted keys and no spaces. Nothing in it is code. Equal input to one version
gives equal bytes.

**Manifest** (JSON): ``format`` (the number ``FORMAT``), ``tool`` (the version that wrote it),
``start``, ``kbnf_start`` (the start of the text as KBNF), ``language`` (of the source; null for
KBNF that was written of a text without rules), ``finish``, ``nonterminals`` (names by number),
``token_terminals`` (each
``{"name", "ranges", "negated"}``), ``start_is_nullable``, ``source_path``, ``source_hash``
(BLAKE2b-128 of the source), ``key`` (that of a store under which it was compiled, null elsewhere),
``unicode`` (version of the tables after property classes), ``vocabulary``: null, or ``{"name",
"size", "fingerprint", "nodes"}`` of the vocabulary that the masks below are for, and ``sections``:
by name, ``{"arrays": [names], "digest": ...}`` with ``container.digest`` of these arrays.

**Sections.** ``tables`` and ``states`` are what an engine cannot do without: they are verified when
the file is loaded, and damage is an ``ArtifactError``. ``walks`` and ``masks``, there with
a vocabulary, are verified when an engine first asks for them (a millisecond a megabyte); damage is
an ``ArtifactWarning``, and they are recomputed. Names that a reader does not know are skipped, so
a version can add sections that others do without. ``values`` is there for structural tags and
calls of tools in the format of a model: without it the value of a text is one of JSON. Two names
are reserved: ``rows``, the digests of the rows of ``masks`` where those lie in a store, shared by
artifacts, and ``device``, a table of all states for an accelerator.

A digest shows damage, not intent: everything read is validated before use as well, whoever wrote
it (``validate.py``). What is numbered by its content when it is restored is in canonical form:
elements ascend, no content is there twice, the empty one is number 0.

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

Of ``states``:

- ``items.start``, ``items`` (int64): the item sets; an item is state * nonterminals + report,
  for the state row + (1 + count) * positions where it is counted.
- ``origins.start``, ``origins`` ([n, 3]): stack nodes as triples (nonterminal, parent, item set);
  a node refers to itself (-1) and to nodes before it only.
- ``pairs.start``, ``pairs`` ([n, 2]): states as (stack node, item set); ``exits.start``,
  ``exits``: their completions, nonterminals completed by the byte that led there. State 0 is dead.
- ``next.start``, ``next``: transitions, a list a state; -1 is not computed yet. A list as long as
  there are classes has the state after each; a shorter one begins with what most of them lead to,
  0 or -1, and has (class, state) pairs for the others. States that had no room are left out: they
  are the last ones, and -1 where others lead to them.

Of ``masks``:

- ``masks.start``, ``masks`` (uint32): distinct sets of token ids; the first is empty. A list as
  long as a row of bits is that row; a shorter one has (index, word) pairs for the nonzero words.

Of ``walks``:

- ``nodes.start``, ``nodes``: sets of trie nodes, ascending; the first is the root alone.
- ``walks`` ([n, 3]): (item set, node set, row of ``masks``); ``walk_exits.start``, ``walk_exits``
  ([n, 2]): their completions as (nonterminal, node set).
- ``viable`` ([n, 2]): (state, row of ``masks``); ``completions.start``, ``completions``: node
  sets at which the start is complete.
"""

FORMAT = 5
"""Raised whenever a reader of the older format would misread the newer one."""

SUFFIX = ".kbnfc"
"""What artifacts are called."""
