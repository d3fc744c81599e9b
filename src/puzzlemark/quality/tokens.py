"""Code tokens for BLEU: a lexer that takes any text, however broken."""

import re

# Longest first. Strings and comments are split like code: a completion that was cut inside a
# string has then the tokens that the whole one begins with, and no quote can swallow the rest.
_OPERATORS = (
    ">>>= <<= >>= >>> **= //= ... == != <= >= && || ++ -- += -= *= /= %= &= |= ^= := -> => :: "
    "<< >> ** //"
).split()
_TOKEN = re.compile(
    r"[^\W\d]\w*"  # a name, a keyword, a word of prose
    r"|\d\w*(?:\.\d\w*)?"  # 10, 0xFF, 1.5e9, 10L
    rf"|{'|'.join(map(re.escape, _OPERATORS))}"
    r"|\S"
)
_NAME = re.compile(r"[^\W\d]\w*")


def tokenize(text: str) -> list[str]:
    """`"x_1 += f('a b')" -> ["x_1", "+=", "f", "(", "'", "a", "b", "'", ")"]`.

    No character but white space is lost. Line ends and indentation are not tokens.
    """
    return _TOKEN.findall(text)


def names_in(text: str) -> set[str]:
    """Every word of a text that could be a name, also in strings and comments."""
    return set(_NAME.findall(text))
