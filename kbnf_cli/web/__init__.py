"""The playground in a browser: its server, its answers and its page.

Tests: tests/web/test_server.py, tests/web/test_process.py
"""
