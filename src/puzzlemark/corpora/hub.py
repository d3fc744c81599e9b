"""What a folder of the Hugging Face hub says of its own sizes, brought up to date.

Only the numbers change; every other byte of `README.md` and `dataset_infos.json` stays.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from puzzlemark.corpora.lines import Span, find_inside

# as `datasets` tells splits apart by the names of files and folders
SPLITS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "dev", "val"),
    "test": ("test", "testing", "eval", "evaluation"),
}
_WORDS = {word: split for split, words in SPLITS.items() for word in words}


def split_of(name: str) -> str | None:
    """A file's split by its name or folder: `split_of("data/dev-0.jsonl") -> "validation"`."""
    for part in reversed(name.lower().split("/")):
        for word in re.split(r"[^a-z]+", part):
            if word in _WORDS:
                return _WORDS[word]
    return None


@dataclass(frozen=True, slots=True)
class Growth:
    """How a file changed: bytes of text in its records, and of the file itself."""

    name: str
    text: int
    before: int
    after: int


def is_about_sizes(name: str) -> bool:
    """Whether a file may say how large the dataset is."""
    return name.rpartition("/")[2] in ("README.md", "dataset_infos.json", "dataset_info.json")


def mend(name: str, content: bytes, growths: Sequence[Growth]) -> bytes:
    """The file with the sizes that hold now."""
    if name.endswith(".json"):
        found = _find_in_json(content)
    else:
        found = list(_find_in_front_matter(content))
    return _put(content, _new_numbers(content, found, growths))


@dataclass(frozen=True, slots=True)
class _Number:
    span: Span
    key: str  # num_bytes, download_size, dataset_size, size_in_bytes
    config: str | None
    split: str | None


def _new_numbers(
    content: bytes, found: Sequence[_Number], growths: Sequence[Growth]
) -> Iterator[tuple[Span, int]]:
    configs = {number.config for number in found}
    for number in found:
        own = [each for each in growths if len(configs) == 1 or _is_in(each.name, number.config)]
        old = int(content[slice(*number.span)])
        text = sum(each.text for each in own)
        if number.key == "num_bytes":
            yield number.span, old + sum(each.text for each in own if _fits(each, number.split))
        elif number.key == "dataset_size":
            yield number.span, old + text
        elif number.key == "download_size":
            yield number.span, old + _packed(old, own)
        else:  # size_in_bytes: both of them
            beside = ("download_size", number.config)
            spans = (each.span for each in found if (each.key, each.config) == beside)
            download = next((int(content[slice(*span)]) for span in spans), -1)
            yield number.span, old + text + _packed(download, own)


def _packed(download: int, growths: Sequence[Growth]) -> int:
    """How much more is downloaded, where what was said is the size of these files."""
    is_theirs = download == sum(each.before for each in growths)
    return sum(each.after - each.before for each in growths) if is_theirs else 0


def _fits(growth: Growth, split: str | None) -> bool:
    own = split_of(growth.name)
    return own is None or split is None or own == _WORDS.get(split.lower(), split)


def _is_in(name: str, config: str | None) -> bool:
    return config is not None and config in name.split("/")


def _put(content: bytes, numbers: Iterable[tuple[Span, int]]) -> bytes:
    pieces: list[bytes] = []
    at = 0
    for (start, end), value in sorted(numbers):
        pieces += (content[at:start], str(value).encode())
        at = end
    return b"".join((*pieces, content[at:]))


_SIZES = ("download_size", "dataset_size", "size_in_bytes")


def _find_in_json(content: bytes) -> list[_Number]:
    try:
        infos = json.loads(content)
    except ValueError:
        return []
    if not isinstance(infos, Mapping):
        return []
    if "splits" in infos or "dataset_size" in infos or "features" in infos:
        return list(_numbers_of(content, infos, (), None))
    return [
        number
        for config, info in infos.items()
        if isinstance(info, Mapping)
        for number in _numbers_of(content, info, (config,), config)
    ]


def _numbers_of(
    content: bytes, info: Mapping[str, Any], path: tuple[str, ...], config: str | None
) -> Iterator[_Number]:
    for key in _SIZES:
        if type(info.get(key)) is int:
            yield _Number(find_inside(content, 0, (*path, key)), key, config, None)
    splits = info.get("splits")
    for name, split in splits.items() if isinstance(splits, Mapping) else ():
        if isinstance(split, Mapping) and type(split.get("num_bytes")) is int:
            place = (*path, "splits", name, "num_bytes")
            yield _Number(find_inside(content, 0, place), "num_bytes", config, name)


_FRONT_MATTER = re.compile(
    rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n.*?^---[ \t]*\r?$", re.DOTALL | re.MULTILINE
)
_LINE = re.compile(rb"^( *)((?:- +)*)([A-Za-z_]\w*):[ \t]*([^\r\n]*?)[ \t]*\r?$", re.MULTILINE)


def _find_in_front_matter(content: bytes) -> Iterator[_Number]:
    """The numbers below `dataset_info:`, a line each: a block of YAML as the hub writes it."""
    matter = re.match(
        rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n.*?^---[ \t]*\r?$", content, re.DOTALL | re.MULTILINE
    )
    if matter is None:
        return
    start = re.compile(rb"^dataset_info:[ \t]*\r?$", re.MULTILINE).search(content, 0, matter.end())
    if start is None:
        return
    config: str | None = None
    split: str | None = None
    splits: int | None = None  # how far `splits:` is indented, while inside of it
    for line in _LINE.finditer(content, start.end(), matter.end()):
        depth = len(line[1]) + len(line[2])
        if depth == 0:
            return  # the next key of the front matter
        key, value = line[3].decode(), line[4].decode("utf-8", "replace").strip("'\"")
        if splits is not None and depth <= splits and not (line[2] and len(line[1]) == splits):
            splits = None
        if key == "config_name":
            config = value
        elif key == "splits":
            splits = depth
        elif splits is not None and key == "name":
            split = value
        elif value.isdecimal() and (key in _SIZES or (splits is not None and key == "num_bytes")):
            of = split if key == "num_bytes" else None
            yield _Number(line.span(4), key, config, of)
