"""Code as sub-word pieces: a piece that starts a word carries the mark U+2581 in front.

The pieces are those of byte-pair encoding as SentencePiece and the Llama models use it: no piece
mixes letters with other characters, every digit is a piece of its own, and none is longer than 16
characters. A character that was never seen becomes its bytes, so that nothing is lost.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from puzzlemark.corpora.base import Entry
from puzzlemark.detectors.base import snippet_of
from puzzlemark.errors import UnparsableSnippet, UsageError
from puzzlemark.syntax.tree import Tree, is_docstring, parse

Text = Literal["raw", "joined"]
Filter = Literal["published", "stripped"]

WORD_START = "\N{LOWER ONE EIGHTH BLOCK}"
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
_LONGEST = 16  # characters of a piece, as SentencePiece has it
_RARE = 2  # a pair of pieces that occurs less often is not joined
_RUNS = rf"{WORD_START}?\p{{L}}+|\p{{N}}|{WORD_START}?[^\p{{L}}\p{{N}}{WORD_START}]+|{WORD_START}"
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")


@dataclass(frozen=True, slots=True)
class Pieces:
    """A tokenizer, and the text of each of its pieces by number."""

    tokenizer: Any
    texts: Sequence[str]

    def encode(self, text: str) -> NDArray[np.int64]:
        """The numbers of the pieces of a text, without any special symbols around them."""
        return np.array(self.tokenizer.encode(text, add_special_tokens=False).ids, np.int64)


def open_pieces(path: Path) -> Pieces:
    """The tokenizer of a `tokenizer.json`."""
    try:
        tokenizer = _library().Tokenizer.from_file(str(path))
    except Exception as exc:  # the library raises nothing narrower
        raise UsageError(f"{path}: not a tokenizer.json that can be read: {exc}") from exc
    tokenizer.no_truncation()
    tokenizer.no_padding()
    size = 1 + max(tokenizer.get_vocab().values(), default=-1)
    return Pieces(tokenizer, [tokenizer.id_to_token(n) or "" for n in range(size)])


def train_pieces(texts: Iterable[str], size: int) -> str:
    """A `tokenizer.json` of so many pieces at most: the same texts give the same bytes."""
    library = _library()
    parts = library.pre_tokenizers
    tokenizer = library.Tokenizer(library.models.BPE())
    runs = parts.Split(library.Regex(_RUNS), "isolated")
    tokenizer.pre_tokenizer = parts.Sequence([parts.Metaspace(WORD_START, "always"), runs])
    trainer = library.trainers.BpeTrainer(
        vocab_size=size - len(BYTES),
        min_frequency=_RARE,
        max_token_length=_LONGEST,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return _add_bytes(json.loads(tokenizer.to_str()))


def read_text(entry: Entry, text: Text) -> str:
    """A record's code as the detector reads it, on one line; UnparsableSnippet says why it cannot.

    raw: `if(a):  # why` -> `if(a): # why`; joined: the tokens with blanks, `if ( a ) :`
    """
    if text == "joined":
        return " ".join(" ".join(_tokens(parse(snippet_of(entry)))).split())
    if entry.code is None or entry.reason not in (None, "no language"):
        raise UnparsableSnippet(entry.reason or "null code")
    return " ".join(entry.code.split())


def name_pieces(texts: Sequence[str], eligible: Filter) -> tuple[NDArray[np.int64], list[str]]:
    """Which pieces may be triggers: for each the number of its name, or -1, and the names.

    Published: a piece of letters and digits that starts with a letter. A word's first piece is
    none, because of its mark. Stripped: the mark does not count, with or without it is one name.
    """
    names: dict[str, int] = {}
    numbers = np.full(len(texts), -1)
    for piece, text in enumerate(texts):
        name = text.removeprefix(WORD_START) if eligible == "stripped" else text
        if _WORD.fullmatch(name):
            numbers[piece] = names.setdefault(name, len(names))
    return numbers, list(names)


def _add_bytes(content: dict[str, Any]) -> str:
    """Pieces for single bytes. The trainer would make them special: found as text in code, too."""
    model = content["model"]
    model["vocab"] |= {piece: len(model["vocab"]) + n for n, piece in enumerate(BYTES)}
    model["byte_fallback"] = True
    return json.dumps(content, ensure_ascii=False, indent=1)


def _tokens(tree: Tree) -> Iterator[str]:
    """The leaves of a tree in order, without comments and docstrings; a string is one of them."""
    language = tree.language
    left_out = language.tokens.comments | language.tokens.layout
    end = tree.offset + len(tree.code)
    stack = [tree.root]
    while stack:
        node = stack.pop()
        if node.type in left_out or is_docstring(language, node):
            continue
        if not node.child_count or node.type in language.tokens.opaque:
            if tree.offset <= node.start_byte and node.end_byte <= end:  # not of the wrapper
                yield tree.text(node)
        else:
            stack.extend(reversed(node.children))


def _library() -> Any:
    try:
        import tokenizers
        import tokenizers.models
        import tokenizers.pre_tokenizers
        import tokenizers.trainers
    except ImportError as exc:
        raise UsageError("killbadcode needs tokenizers: pip install 'puzzlemark[detect]'") from exc
    return tokenizers
