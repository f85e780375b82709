"""``kbnf play``: a console that reads tokens.

``commands.step`` is the whole loop: a session and a line go in, a session and what to show come
out. The terminal (``terminal.py``) and scripts only fetch lines and print replies.

Tests: tests/unit/play/test_step.py
"""
