"""The playground in a browser: its server, its answers and its page."""
