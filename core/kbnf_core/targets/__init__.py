"""Asks engines whether they take a schema or a grammar, and what of it they do not enforce.

Engines are asked, not tabulated: what becomes of a keyword depends on the schema around it. Each
engine runs in a process of its own (``process``, ``worker``, ``engines``); the documents it is
asked about are made here (``values``, ``violations``) and judged by two others (``judges``).
"""
