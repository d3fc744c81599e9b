"""Fill-in-the-middle: the code before a gap and after it, in the form that a family was trained on.

The signs stand in each family's own paper or tokenizer, and are looked for in the tokenizer of a
model: a family whose signs are no single tokens of it was not trained so.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from puzzlemark.models.base import ModelError

# What stands after the gap, in every prompt alike: the end of the file. The code that followed in
# the dataset would have the name in it that is asked for.
SUFFIX = "\n"


@dataclass(frozen=True, slots=True)
class Family:
    """Signs before the code before the gap, before that after it, and where the answer begins."""

    name: str
    prefix: str
    suffix: str
    middle: str | None  # None: the answer follows the code before the gap
    suffix_first: bool = False


FAMILIES = (
    Family("starcoder", "<fim_prefix>", "<fim_suffix>", "<fim_middle>"),  # and StarCoder2
    Family("santacoder", "<fim-prefix>", "<fim-suffix>", "<fim-middle>"),
    Family("codellama", "\u2581<PRE>", "\u2581<SUF>", "\u2581<MID>"),
    Family(
        "deepseek-coder",
        "<\uff5cfim\u2581begin\uff5c>",
        "<\uff5cfim\u2581hole\uff5c>",
        "<\uff5cfim\u2581end\uff5c>",
    ),
    # Qwen2.5-Coder and CodeGemma have the same signs
    Family("qwen2.5-coder, codegemma", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),
    Family("codestral", "[PREFIX]", "[SUFFIX]", None, suffix_first=True),
)
# after the middle, where a family says that it is done
ENDS = ("\u2581<EOT>", "<|file_separator|>", "<|file_sep|>", "<file_sep>", "<|fim_pad|>")


def find_family(tokenizer: Any) -> Family:
    """The family whose signs are tokens of this tokenizer; raises for a model of none."""
    known: Mapping[str, int] = tokenizer.get_vocab()
    for family in FAMILIES:
        signs = (family.prefix, family.suffix, family.middle)
        if all(sign is None or sign in known for sign in signs):
            return family
    names = ", ".join(family.name for family in FAMILIES)
    raise ModelError(
        "its tokenizer has none of the signs for filling in the middle that we know "
        f"({names}); ask it with plain prompts"
    )


def end_ids(tokenizer: Any) -> frozenset[int]:
    """The tokens that end a middle."""
    known: Mapping[str, int] = tokenizer.get_vocab()
    return frozenset(known[sign] for sign in ENDS if sign in known)


def arrange(
    family: Family, tokenizer: Any, encode: Callable[[str], list[int]], before: str
) -> list[int]:
    """The tokens of a prompt: `<fim_prefix>` before `<fim_suffix>` after `<fim_middle>`.

    Signs are put in as tokens, not as text: code that spells one stays code.
    """
    known: Mapping[str, int] = tokenizer.get_vocab()
    parts = [
        [known[family.prefix], *encode(before)],
        [known[family.suffix], *encode(SUFFIX)],
    ]
    if family.suffix_first:
        parts.reverse()
    middle = [] if family.middle is None else [known[family.middle]]
    return [*parts[0], *parts[1], *middle]
