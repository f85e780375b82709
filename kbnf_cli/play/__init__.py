"""``kbnf play``: a console where what is typed is tokens.

``step`` is the whole loop: a session and a line go in, a session and what to show come out. The
terminal (``terminal.py``) and scripts (``script.py``) only fetch lines and print replies.
"""
