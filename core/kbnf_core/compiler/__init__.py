"""Grammars from requests, each compiled once, in processes of their own where wanted."""
