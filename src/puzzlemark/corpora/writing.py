"""Where a dataset may be written: beside its input, and laid out like it."""

from pathlib import Path

from puzzlemark.corpora.shards import Layout, extension_of, is_hidden
from puzzlemark.errors import UsageError
from puzzlemark.files import keep_apart


def refuse_output(source: Layout, asked: Path, output: Path) -> None:
    """Raise unless a dataset laid out like `source` can be written to `output`."""
    if source.kind == "file":
        _refuse_other_file(source, output)
    else:
        _refuse_other_folder(source, output)
    keep_apart({"--output": output}, {"INPUT": source.paths(asked)})


def _refuse_other_file(source: Layout, output: Path) -> None:
    (shard,) = source.shards
    ours, theirs = extension_of(shard.name), extension_of(output.name)
    assert ours is not None
    same = theirs is not None and theirs[0] == ours[0] and _packing(theirs[1]) == _packing(ours[1])
    if not same or output.is_dir():
        raise UsageError(
            f"{output}: the input {shard.name} is one file ending in {ours[1]}, "
            f"so the output must be a file ending in {ours[1]}"
        )


def _refuse_other_folder(source: Layout, output: Path) -> None:
    if extension_of(output.name) is not None or (_exists(output) and not output.is_dir()):
        raise UsageError(
            f"{output}: the input is a {source.kind} of {len(source.shards)} files, "
            "so the output must be a folder"
        )
    if output.is_dir():
        _refuse_strange_files(output)


def _refuse_strange_files(output: Path) -> None:
    """A folder is replaced whole, so nothing may be in it that is no dataset."""
    for path in sorted(output.rglob("*")):
        name = path.relative_to(output).as_posix()
        if not path.is_dir() and (extension_of(name) is None or is_hidden(name)):
            raise UsageError(
                f"{output}: holds other files than a dataset, such as {name}, which would be lost; "
                "choose another --output, or move them away"
            )


def _packing(extension: str) -> bool:
    return extension.endswith(".gz")


def _exists(path: Path) -> bool:
    return path.exists() or path.is_symlink()
