"""XGrammar's structural tags: JSON that tells free text from the parts that follow a format.

The JSON is read into nodes (``read``, by the table in ``formats``), and each node becomes an
expression of KBNF (``write``; free text in ``free_text``, JSON Schemas and other grammars inside in
``contents``, tool arguments written in XML in ``xml``). ``presets`` holds the tool calls of common
models.
"""
