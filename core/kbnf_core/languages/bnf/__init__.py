"""The dialect of bnf_sampler.

Tests: tests/unit/languages
"""
