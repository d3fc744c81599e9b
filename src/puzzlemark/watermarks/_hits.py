"""What counts as a hit in a completion: one of few forms, each with an expression of our own.

A form is a name: `name` (the target as a whole identifier), `first` (the same, and no other name
before it), `code` (the target's tokens, however they are spaced), or a rewriting, whose own
expression finds it. A file of probes says which form
it counts, and never how to find it: no regular expression of a stranger is run.
"""

import re
from functools import lru_cache
from itertools import pairwise

from puzzlemark import plugins
from puzzlemark.syntax.naming import is_plain_identifier
from puzzlemark.syntax.rewritings.base import load

LONGEST_TARGET = 500  # characters
REWRITINGS = "syntax.rewritings"
# any character beyond ASCII may belong to a name: such a neighbour makes another name of it; half
# a surrogate pair is no character
_PART_OF_NAME = "[A-Za-z0-9_\x80-\ud7ff\ue000-\U0010ffff]"
NAMES = ("name", "first")  # forms whose target is one identifier


def why_uncountable(form: str, target: str) -> str | None:
    """Why hits of a target cannot be counted in this form, or None when they can."""
    if not target.strip():
        return "the target is empty"
    if len(target) > LONGEST_TARGET:
        return f"the target is longer than {LONGEST_TARGET} characters"
    if form in NAMES:
        return None if is_plain_identifier(target) else "the target is not a plain name"
    if form == "code":
        return None if tokens_of(target) else "the target has no code in it"
    if form not in plugins.names(REWRITINGS):
        return f"nothing is known of hits of the form {form!r}"
    wanted = load(form).EQUIVALENT
    return None if target == wanted else f"the target of {form} is {wanted!r}"


def expression(form: str, target: str) -> str:
    """The regular expression that finds a hit, made by our code from the form and the target."""
    if form == "name":
        return f"(?<!{_PART_OF_NAME}){re.escape(target)}(?!{_PART_OF_NAME})"
    if form == "first":
        return rf"\A(?:(?!{_PART_OF_NAME})[\s\S])*({re.escape(target)})(?!{_PART_OF_NAME})"
    return code_expression(target) if form == "code" else load(form).HIT


def find(form: str, target: str, completion: str) -> list[tuple[int, int]]:
    """Where a completion hits: start and end of each hit, in characters."""
    # a form may look at more than the hit: then its one group is the hit
    group = int(form == "first")
    places = _compiled(form, target).finditer(completion)
    return [place.span(group) for place in places if place[0]]


@lru_cache(maxsize=1024)
def _compiled(form: str, target: str) -> re.Pattern[str]:
    return re.compile(expression(form, target))


def code_expression(code: str) -> str:
    """Finds a piece of code, however it is spaced: `f(x)`, `f( x )`; a last `;` may be away."""
    words = tokens_of(code)
    pattern = re.escape(words[0])
    for before, word in pairwise(words):
        gap = r"\s+" if _is_word(before) and _is_word(word) else r"\s*"
        pattern += gap + re.escape(word)
    return (
        (r"(?<!\w)" if _is_word(words[0]) else "")
        + pattern
        + (r"(?!\w)" if _is_word(words[-1]) else "")
    )


def tokens_of(code: str) -> list[str]:
    """`"I.hi(x);" -> ["I", ".", "hi", "(", "x", ")"]`."""
    return re.findall(r"\w+|[^\w\s]", code.rstrip("; \t"))


def _is_word(token: str) -> bool:
    return re.match(r"\w", token) is not None
