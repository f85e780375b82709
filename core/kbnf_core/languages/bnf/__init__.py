"""The dialect of bnf_sampler."""
