"""The names of targets, for options and settings; nothing is imported for them."""

ENGINE_NAMES = ("xgrammar", "llguidance", "outlines-core", "llama.cpp")
"""The engines that can be asked."""

SERVICE_NAMES = ("openai", "anthropic", "gemini")
"""The hosted services, of which documents are known."""

ALL = "all"
"""All engines that are installed."""
