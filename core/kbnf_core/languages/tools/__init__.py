"""Lists of tools, as requests to models and servers of tools have them, as a grammar language.

Tests: tests/unit/languages/tools/test_own_tools.py,
tests/unit/languages/tools/test_chat_templates.py
"""
