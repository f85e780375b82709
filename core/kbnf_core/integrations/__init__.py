"""Adapters: one file for each program that generates text, which imports it when it is used.

They hold no logic of their own: grammars, masks and ends are the engine's.
"""
