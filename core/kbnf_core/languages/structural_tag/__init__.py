"""XGrammar's structural tags: JSON that says free text from the parts that follow a format.

The JSON is read into nodes (``read``, by the table in ``formats``), and each node becomes an
expression of KBNF (``write``; free text in ``free_text``, tokens in ``tokens``, JSON Schemas and
other grammars inside in ``contents``). Tool arguments written in XML are in ``xml``, those whose
elements nest in ``cohere`` and ``minimax_m3``. ``presets`` makes the tool calls of common models,
from the table in ``models``. ``marks`` says what the values of a text are; ``arguments`` makes JSON
of arguments in XML, ``stored`` a text of marks.
"""
