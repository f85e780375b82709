"""A store of artifacts that many machines share.

**Layout.** ``inputs/KEY`` names the digest of an artifact; ``objects/DIGEST`` is the artifact
without its mask rows, compressed; ``rows/DIGEST`` is one mask row, shared by all artifacts that
have it; ``failures/KEY`` is why a source is refused; ``vocabularies/FINGERPRINT`` is what workers
read that have not its file. A key is a hash of everything that decides what is
compiled (``keys.py``), so an entry is never stale. Digests are of contents, and compiling is
deterministic: writers need no lock, since all of them write the same bytes.

Nothing that is read is trusted. An artifact is put together again from its rows, compared with its
digest, and validated when it is loaded; whatever is missing or damaged is a miss and a note.
"""
