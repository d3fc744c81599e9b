"""Datasets in an object store: a real S3 server on the loopback, from marks to the original."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from isal import igzip
from typer.testing import CliRunner

import puzzlemark as pm
from puzzlemark.cli.__main__ import application

pytest.importorskip("s3fs")
pytest.importorskip("moto.server")

from tests.servers.s3 import BUCKET, KEY, S3, SECRET, serving

RECORDS, SHARDS = 60, 3


@pytest.fixture(scope="module")
def server() -> Iterator[S3]:
    with serving() as opened:
        yield opened


@pytest.fixture
def s3(server: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> S3:
    """The server with an empty bucket, and this process as one of its users."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PUZZLEMARK_SECRET", "known to everybody")
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    server.reset()
    return server


@pytest.fixture
def records(stdlib_functions: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [
        {"id": id_, "language": "python", "code": code}
        for id_, code in stdlib_functions[: RECORDS * SHARDS]
    ]


def as_jsonl(records: list[dict[str, str]]) -> bytes:
    return igzip.compress(b"".join(orjson.dumps(record) + b"\n" for record in records), 2)


def as_parquet(records: list[dict[str, str]]) -> bytes:
    sink = BytesIO()
    pq.write_table(pa.Table.from_pylist(records), sink, compression="zstd")
    return sink.getvalue()


FORMATS = {"jsonl.gz": as_jsonl, "parquet": as_parquet}
READERS: dict[str, Callable[[bytes], Any]] = {
    "jsonl.gz": igzip.decompress,
    "parquet": lambda content: pq.read_table(BytesIO(content)),
}


def put_shards(
    s3: S3, folder: Path, records: list[dict[str, str]], ending: str
) -> dict[str, bytes]:
    """The same shards in the store, below `train/`, and in a folder."""
    (folder / "train").mkdir(parents=True)
    shards = {
        f"train/part-{at}.{ending}": FORMATS[ending](records[at::SHARDS]) for at in range(SHARDS)
    }
    for name, content in shards.items():
        s3.put(name, content)
        (folder / name).write_bytes(content)
    return shards


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(application(), list(arguments))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


@pytest.mark.parametrize("ending", FORMATS)
def test_a_dataset_in_a_store_is_marked_as_one_on_the_disk(
    s3: S3, records: list[dict[str, str]], tmp_path: Path, ending: str
) -> None:
    shards = put_shards(s3, tmp_path, records, ending)
    source, marked = f"s3://{BUCKET}/train", f"s3://{BUCKET}/out/marked"
    here = pm.embed(tmp_path / "train", tmp_path / "marked", tmp_path / "here.jsonl", mark="U1")
    there = pm.embed(source, marked, tmp_path / "there.jsonl", mark="U1")
    assert there.marked == here.marked > 0
    assert there.output == marked
    # the same bytes, and nothing beside them
    found = s3.objects("out/")
    assert found == {
        f"out/marked/{path.name}": path.read_bytes() for path in (tmp_path / "marked").iterdir()
    }
    assert (tmp_path / "there.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()
    assert BUCKET not in (tmp_path / "there.jsonl").read_text()

    # seen, scored, asked about and audited from there
    code, told = run("show", marked, "--manifest", str(tmp_path / "there.jsonl"), "--json")
    assert code == 0, told
    assert json.loads(told)["input"] == marked
    code, told = run(
        "probe",
        marked,
        "--manifest",
        str(tmp_path / "there.jsonl"),
        "-o",
        str(tmp_path / "p.jsonl"),
    )
    assert code == 0, told
    code, told = run("audit", source, marked, "--manifest", str(tmp_path / "there.jsonl"), "--json")
    assert code == 0, told
    assert json.loads(told)["tells"] == []
    pm.score(tmp_path / "train", tmp_path / "here.parquet")
    code, told = run("score", source, "-o", f"s3://{BUCKET}/scores.parquet", "--workers", "1")
    assert code == 0, told
    assert (
        s3.objects("scores.parquet")["scores.parquet"] == (tmp_path / "here.parquet").read_bytes()
    )
    assert s3.objects("scores.svg")

    # and back
    code, told = run(
        "revert", f"{marked}/", "--manifest", str(tmp_path / "there.jsonl"),
        "-o", f"s3://{BUCKET}/back/train",
    )  # fmt: skip
    assert code == 0, told
    pm.revert(tmp_path / "marked", tmp_path / "back", tmp_path / "here.jsonl")
    back = {f"back/train/{path.name}": path.read_bytes() for path in (tmp_path / "back").iterdir()}
    assert s3.objects("back/") == back
    assert {name: READERS[ending](content) for name, content in back.items()} == {
        f"back/{name}": READERS[ending](content) for name, content in shards.items()
    }
    assert s3.uploads() == []
    assert not list((tmp_path / "cache").rglob("*.work"))


def test_workers_read_and_write_a_store_themselves(
    s3: S3, records: list[dict[str, str]], tmp_path: Path
) -> None:
    put_shards(s3, tmp_path, records, "jsonl.gz")
    pm.embed(tmp_path / "train", tmp_path / "marked", tmp_path / "here.jsonl", mark="U1")
    pm.embed(
        f"s3://{BUCKET}/train/*.gz", f"s3a://{BUCKET}/marked", tmp_path / "there.jsonl", mark="U1",
        workers=2,
    )  # fmt: skip
    here = {f"marked/{path.name}": path.read_bytes() for path in (tmp_path / "marked").iterdir()}
    assert s3.objects("marked/") == here
    assert (tmp_path / "there.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()


@pytest.mark.slow  # a cluster's processor time is told too late to be measured
def test_a_cluster_of_ray_reads_and_writes_a_store(
    s3: S3, records: list[dict[str, str]], tmp_path: Path
) -> None:
    pytest.importorskip("ray")
    put_shards(s3, tmp_path, records, "parquet")
    here = pm.embed(tmp_path / "train", tmp_path / "marked", tmp_path / "here.jsonl", mark="U1")
    # in a process of its own: Ray starts threads and processes, and keeps handlers of signals
    words = (f"s3://{BUCKET}/train", f"s3://{BUCKET}/marked", str(tmp_path / "there.jsonl"))
    command = [sys.executable, "-m", "tests.stories.ray_store", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) == here.marked > 0
    found = {f"marked/{path.name}": path.read_bytes() for path in (tmp_path / "marked").iterdir()}
    assert s3.objects("marked/") == found
    assert (tmp_path / "there.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()
    assert s3.uploads() == []


def test_every_command_that_writes_a_dataset_writes_to_a_store(
    s3: S3, records: list[dict[str, str]], tmp_path: Path
) -> None:
    source, store = tmp_path / "a.parquet", f"s3://{BUCKET}"
    source.write_bytes(as_parquet(records))
    marked, marks = f"{store}/marked.parquet", str(tmp_path / "marks.jsonl")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.py").write_text(records[0]["code"])
    one = ("--workers", "1")
    suspicion = f"{store}/suspicion.parquet"
    for command in (
        ["embed", str(source), "-o", marked, "--manifest", marks, *one],
        ["apply", str(source), "-o", f"{store}/again.parquet", "--manifest", marks],
        ["detect", marked, "-m", "concat", "-o", suspicion, *one],
        ["attack", marked, "-a", "removal", "--suspicion", suspicion, "-o",
         f"{store}/left.parquet", *one],
        ["split", marked, "--train", f"{store}/train.parquet", "--test", f"{store}/test.parquet",
         "--project-column", "id"],
        ["harvest", str(tmp_path / "tree"), "--language", "python", "-o", f"{store}/h.jsonl.gz",
         *one],
    ):  # fmt: skip
        code, told = run(*command)
        assert code == 0, told
    found = s3.objects()
    assert sorted(found) == sorted(
        "marked.parquet again.parquet suspicion.parquet suspicion.svg left.parquet train.parquet "
        "test.parquet h.jsonl.gz".split()
    )
    assert found["again.parquet"] == found["marked.parquet"]
    pm.embed(source, tmp_path / "here.parquet", tmp_path / "here.jsonl")
    assert found["marked.parquet"] == (tmp_path / "here.parquet").read_bytes()
    rows = {name: pq.read_table(BytesIO(found[name])).num_rows for name in found if "parq" in name}
    assert rows["train.parquet"] + rows["test.parquet"] == len(records)
    # what stands there is kept, unless it is to be replaced
    code, told = run("embed", str(source), "-o", marked, "--manifest", f"{marks}.2", *one)
    assert code == 2
    assert f"{marked}: already there; pass --force" in told
    code, told = run("embed", str(source), "-o", marked, "--manifest", marks, "--force", *one)
    assert code == 0, told
    assert s3.objects() == found


def test_failures_of_a_store_are_one_sentence_each_and_tell_no_secret(
    s3: S3, records: list[dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3.put("a.parquet", as_parquet(records[:5]))
    url, marks = f"s3://{BUCKET}/a.parquet", str(tmp_path / "m.gz")

    def fails(source: str, output: str, because: str) -> None:
        import s3fs

        s3fs.S3FileSystem.clear_instance_cache()
        code, told = run("embed", source, "-o", output, "--manifest", marks, "--workers", "1")
        line = " ".join(told.split())
        assert code in (1, 2), told
        assert because in line, line
        assert line.count("error:") == 1
        assert not any(word in line for word in ("Traceback", KEY, SECRET)), line
        assert not Path(marks).exists()

    fails(
        "s3://no-such-bucket/a.parquet",
        "b.parquet",
        "s3://no-such-bucket/a.parquet: no such bucket",
    )
    fails(f"s3://{BUCKET}/b.parquet", "b.parquet", f"s3://{BUCKET}/b.parquet: no such object")
    fails(url, "s3://no-such-bucket/x/b.parquet", "no such bucket")
    s3.require_credentials()
    fails(url, "b.parquet", f"{url}: access denied; check the credentials")
    fails(str(tmp_path / "none.parquet"), f"s3://{BUCKET}/b.parquet", "no such file")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    fails(url, "b.parquet", f"{url}: no credentials were found")
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    fails(url, "b.parquet", f"{url}: the store cannot be reached")


def test_a_writer_that_is_killed_leaves_nothing_under_a_final_name(
    tmp_path: Path,
) -> None:
    # in a process of its own, which has one thread and forks; without numbers it kills everywhere
    command = [sys.executable, "-m", "tests.killing", "store", str(tmp_path), "older", "6", "21"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout)
    assert seen["kills"] == 2
    assert seen["uploads left"] == 1
    assert seen["done by the next run"] == 2
