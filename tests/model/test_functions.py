"""Functions that a small model writes under the shipped grammar of Python, judged by `ast.parse`.

`kbnf_testing.small_model` says where the model is; a budget closes each function in time.
"""

import ast

import pytest

from kbnf_core import Grammar
from kbnf_testing.small_model import chat, cyllama_model

TASKS = """
adds two numbers; reverses a string; counts the words of a text; sorts a list of names;
says whether a number is prime; computes a factorial; finds the largest item of a list;
joins words with commas; reads a file and returns its lines; removes duplicates from a list;
counts the vowels of a word; squares each item; says whether a year is a leap year;
converts Celsius to Fahrenheit; merges two dictionaries; sums the digits of a number;
returns the first n Fibonacci numbers; says whether a word is a palindrome; swaps two values;
flattens a list of lists; finds the shortest word; counts down with a while loop;
prints a multiplication table; returns the median of a list; catches a division by zero;
opens a file with a with statement; filters even numbers; maps names to their lengths;
inverts a dictionary; counts letters in a dictionary; validates an email address;
repeats a function n times; computes the area of a circle; returns a random item;
parses a date; writes a list to a file; checks that brackets are balanced;
transposes a matrix; computes a greatest common divisor; searches a sorted list
"""
LONGEST = 64
"""Tokens of a function."""


@pytest.mark.model
def test_functions_that_end_parse() -> None:
    model, grammar = cyllama_model(), Grammar("python")
    tasks = " ".join(TASKS.split()).split("; ")
    assert len(tasks) == 40
    for task in tasks:
        prompt = f"{chat(f'Write a function in Python that {task}.')}```python\n"
        text = model.write(prompt, grammar, budget=LONGEST, limit=LONGEST).text
        assert grammar.status(text) == "fits", text
        assert ast.parse(text).body, text
