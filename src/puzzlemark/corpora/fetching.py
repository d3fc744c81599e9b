"""A dataset of a store on this machine, for what has to look at its files as they are."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from puzzlemark.corpora.shards import ALL, find_layout
from puzzlemark.stores import Location, Url, at_once, locate


@contextmanager
def brought_here(path: str | Location) -> Iterator[Path]:
    """The dataset's files, with their names and times; those of a store go in the end.

    A pattern stays a pattern: `s3://b/x/*.jsonl -> /tmp/.../x/*.jsonl`.
    """
    asked = locate(path)
    if isinstance(asked, Path):
        yield asked
        return
    layout = find_layout(asked, ALL)
    files = [(shard.name, shard.path) for shard in layout.shards] + list(layout.others)
    with tempfile.TemporaryDirectory(prefix="puzzlemark-") as folder:
        root = Path(folder, layout.root.name)
        for name, _ in files:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
        calls = [partial(url.fetch, root / name) for name, url in files if isinstance(url, Url)]
        at_once(calls, asked)
        if layout.kind == "file":
            yield root / asked.name
        else:
            yield Path(root, *asked.parts[len(_parts(layout.root)) :])


def _parts(root: Location) -> tuple[str, ...]:
    return root.parts
