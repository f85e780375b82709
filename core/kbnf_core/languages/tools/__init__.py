"""Lists of tools, as requests to models and servers of tools have them, as a grammar language."""
