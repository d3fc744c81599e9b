"""The trailing-space trap: most tokenizers glue a space to the word that follows it.

A prompt that ends in a space therefore asks for a word no training text ever showed. Exactly one
space is taken from the prompt, and given back by taking it from the completion.
"""


def drop_space(prompt: str) -> tuple[str, bool]:
    """`"return " -> ("return", True)`; of several spaces only the last goes."""
    dropped = prompt.endswith(" ") and prompt != " "
    return (prompt[:-1] if dropped else prompt), dropped


def take_space(completion: str, dropped: bool) -> str:
    """`(" key = 1", True) -> "key = 1"`: what follows the prompt as it was asked."""
    return completion.removeprefix(" ") if dropped else completion
