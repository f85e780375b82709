"""Artifacts: a compiled grammar on disk, with what was learnt about a vocabulary.

The file is a safetensors container (see ``container.py``): named, aligned arrays that can be
memory-mapped, and a manifest; nothing in it is code. Everything read is validated before use.

**Manifest** (JSON): ``format`` (the number ``FORMAT``), ``tool`` (the version that wrote it),
``start``, ``finish``, ``nonterminals`` (names by number), ``token_terminals`` (each
``{"name", "ranges", "negated"}``), ``start_is_nullable``, ``source_path``, ``source_hash``
(BLAKE2b-128 of the source),
``unicode`` (version of the tables behind property classes) and ``vocabulary``: null, or ``{"name",
"size", "fingerprint", "nodes"}`` of the vocabulary that the masks below are for.

**Arrays**, int32 unless said otherwise. A list of lists is two arrays, ``x.start`` with one more
entry than lists, and the elements; list i is ``x[start[i]:start[i + 1]]``.

- ``source`` (uint8): the grammar's text, UTF-8.
- ``classes`` (uint8), ``entry``, ``accepting`` (uint8), ``edge.start``, ``edge.class``,
  ``edge.target``, ``call.start``, ``call.nonterminal``, ``call.return``, ``call.tail`` (uint8),
  ``token.start``, ``token.terminal``, ``token.target``: the fields of ``tables.Tables``.
- ``items.start``, ``items`` (int64): the item sets; an item is state * nonterminals + report.
- ``origins.start``, ``origins`` ([n, 3]): origin nodes as triples (nonterminal, origin, item set);
  a node speaks of itself (-1) and of nodes before it only.
- ``pairs.start``, ``pairs`` ([n, 2]): states as (origin, item set); ``exits.start``, ``exits``: the
  nonterminals that completed with the byte that led there. State 0 is dead.
- ``next`` ([states, classes]): transitions; -1 is not worked out yet.

With a vocabulary:

- ``masks`` (uint32, [n, words]): distinct sets of token ids, as bits; the first is empty.
- ``nodes.start``, ``nodes``: sets of trie nodes, ascending; the first is the root alone.
- ``walks`` ([n, 3]): (item set, node set, row of ``masks``); ``walk_exits.start``, ``walk_exits``
  ([n, 2]): their exits as (nonterminal, node set).
- ``viable`` ([n, 2]): (state, row of ``masks``); ``completions.start``, ``completions``: node
  sets at which the start is complete.
"""

FORMAT = 2
"""Raised whenever a reader of the older format would misread the newer one."""

SUFFIX = ".kbnfc"
"""What artifacts are called."""
