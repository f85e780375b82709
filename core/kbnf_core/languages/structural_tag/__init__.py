"""XGrammar's structural tags: JSON that says free text from the parts that follow a format.

The JSON is read into nodes (``read``), and each node becomes an expression of the IR (``write``;
JSON Schemas, other grammars and free text inside in ``contents``). Tool arguments written in XML
are in ``xml``, those of styles whose objects nest in ``nested``. ``presets`` makes the tool calls
of common models, from the formats in ``models``. ``marks`` says what the values of a text are;
``arguments`` makes JSON of arguments in any style.

Tests: tests/unit/languages/test_structural_tag.py
"""
