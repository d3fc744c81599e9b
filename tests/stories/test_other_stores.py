"""Datasets at Google's store and on the Hugging Face hub, each played by a server on the loopback.

Every command is a process of its own: the libraries read where their store is when they are
imported.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

import puzzlemark as pm
from tests.servers import gcs, hub
from tests.stories.test_object_store import FORMATS

RECORDS, SHARDS = 20, 3


@dataclass(frozen=True, slots=True)
class Store:
    """A server, and what a URL in it begins with."""

    server: gcs.Gcs | hub.Hub
    root: str
    environment: dict[str, str]

    def run(self, *words: str, **changed: str) -> subprocess.CompletedProcess[str]:
        """A command by somebody whose settings lead to the server, and nowhere else."""
        command = [sys.executable, "-m", "puzzlemark", *words]
        theirs = ("AWS_", "HF_", "GOOGLE_", "STORAGE_")
        kept = {name: text for name, text in os.environ.items() if not name.startswith(theirs)}
        environment = {**kept, **self.environment, **self.server.environment, **changed}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    def done(self, *words: str) -> str:
        """The same, which must end well."""
        done = self.run(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(params=["gs", "hf"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Store]:
    environment = {
        "PUZZLEMARK_SECRET": "known to everybody",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "HF_HOME": str(tmp_path / "hf"),
    }
    monkeypatch.setenv("PUZZLEMARK_SECRET", environment["PUZZLEMARK_SECRET"])
    if request.param == "gs":
        pytest.importorskip("gcsfs")
        pytest.importorskip("gcp_storage_emulator")
        with gcs.serving() as bucket:
            yield Store(bucket, f"gs://{gcs.BUCKET}", environment)
    else:
        pytest.importorskip("huggingface_hub")
        with hub.serving() as repository:
            yield Store(repository, f"hf://datasets/{hub.REPOSITORY}", environment)


def put_shards(
    store: Store,
    folder: Path,
    functions: list[tuple[str, str]],
    ending: str,
    names: tuple[str, ...] = ("0", "1", "2"),
) -> dict[str, bytes]:
    """The same shards in the store, below `train/`, and in a folder."""
    records = [
        {"id": id_, "language": "python", "code": code}
        for id_, code in functions[: RECORDS * SHARDS]
    ]
    (folder / "train").mkdir()
    shards = {
        f"train/{name}.{ending}": FORMATS[ending](records[at::SHARDS])
        for at, name in enumerate(names)
    }
    for name, content in shards.items():
        store.server.put(name, content)
        (folder / name).write_bytes(content)
    return shards


def below(folder: Path, name: str) -> dict[str, bytes]:
    return {f"{name}/{path.name}": path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(("ending", "workers"), [("jsonl.gz", "1"), ("parquet", "2")])
def test_a_dataset_is_marked_there_as_on_the_disk(
    store: Store,
    stdlib_functions: list[tuple[str, str]],
    tmp_path: Path,
    ending: str,
    workers: str,
) -> None:
    shards = put_shards(store, tmp_path, stdlib_functions, ending)
    here, there = str(tmp_path / "here.jsonl"), str(tmp_path / "there.jsonl")
    summary = pm.embed(tmp_path / "train", tmp_path / "marked", here, mark="U1")
    told = store.done(
        "embed", f"{store.root}/train", "-o", f"{store.root}/out/marked", "--manifest", there,
        "--mark", "U1", "--workers", workers, "--json",
    )  # fmt: skip
    assert orjson.loads(told)["marked"] == summary.marked > 0
    marked = below(tmp_path / "marked", "out/marked")
    assert store.server.objects() == shards | marked  # and nothing beside them
    assert Path(there).read_bytes() == Path(here).read_bytes()

    store.done("show", f"{store.root}/out/marked", "--manifest", there)
    store.done(
        "revert", f"{store.root}/out/marked", "--manifest", there, "-o", f"{store.root}/back"
    )
    pm.revert(tmp_path / "marked", tmp_path / "back", here)
    assert store.server.objects("back/") == below(tmp_path / "back", "back")
    assert not list((tmp_path / "cache").rglob("*.work"))


def test_names_that_look_like_patterns_are_names(
    store: Store, stdlib_functions: list[tuple[str, str]], tmp_path: Path
) -> None:
    names = ("a[1]", "b*", "bc")
    shards = put_shards(store, tmp_path, stdlib_functions, "jsonl.gz", names)
    marks = str(tmp_path / "m.jsonl")
    store.done(
        "embed", f"{store.root}/train", "-o", f"{store.root}/out", "--manifest", marks,
        "--mark", "U1", "--workers", "1",
    )  # fmt: skip
    pm.embed(tmp_path / "train", tmp_path / "out", tmp_path / "here.jsonl", mark="U1")
    assert store.server.objects() == shards | below(tmp_path / "out", "out")


def test_what_is_there_is_replaced_only_when_asked(
    store: Store, stdlib_functions: list[tuple[str, str]], tmp_path: Path
) -> None:
    put_shards(store, tmp_path, stdlib_functions, "jsonl.gz")
    store.server.put("out/old.jsonl.gz", FORMATS["jsonl.gz"]([{"id": "0", "code": "x = 1"}]))
    words = (
        "embed", f"{store.root}/train/*.gz", "-o", f"{store.root}/out",
        "--manifest", str(tmp_path / "m.jsonl"), "--mark", "U1", "--workers", "1",
    )  # fmt: skip
    refused = store.run(*words)
    assert refused.returncode != 0
    assert "already there; pass --force to replace it" in " ".join(refused.stderr.split())
    assert list(store.server.objects("out/")) == ["out/old.jsonl.gz"]
    store.done(*words, "--force")
    assert list(store.server.objects("out/")) == [f"out/{at}.jsonl.gz" for at in range(SHARDS)]


def test_a_token_that_is_refused_is_not_told(
    stdlib_functions: list[tuple[str, str]], tmp_path: Path
) -> None:
    pytest.importorskip("huggingface_hub")
    with hub.serving() as server:
        store = Store(server, f"hf://datasets/{hub.REPOSITORY}", {"HF_HOME": str(tmp_path / "hf")})
        put_shards(store, tmp_path, stdlib_functions, "jsonl.gz")
        wrong = "hf_SomebodyElsesToken"
        done = store.run(
            "score", f"{store.root}/train", "-o", str(tmp_path / "s.parquet"), HF_TOKEN=wrong
        )
    assert done.returncode != 0
    assert f"{store.root}/train" in "".join(done.stderr.split())
    for text in (done.stdout, done.stderr):
        assert wrong not in text
        assert "Traceback" not in text
