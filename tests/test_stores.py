"""URLs: what they mean, which are one place, and what is never shown of them."""

import pickle
from pathlib import Path

import pytest
from typer.testing import CliRunner

from puzzlemark.cli.__main__ import application
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.files import keep_apart
from puzzlemark.stores import Url, local_path, local_place, locate, locate_output, telling

SIGNED = "https://host.example/b/x.jsonl?X-Amz-Expires=60&X-Amz-Signature=f00dcafe"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("s3://b/a/x.jsonl", Url("s3", "b/a/x.jsonl")),
        ("s3://b/a/", Url("s3", "b/a")),
        ("hf://datasets/u/r@main/x", Url("hf", "datasets/u/r@main/x")),
        ("abfs://container@account.example/x", Url("abfs", "container@account.example/x")),
        ("file:///a%20b/x.jsonl", Path("/a b/x.jsonl")),
        ("a/x.jsonl", Path("a/x.jsonl")),
        ("C:/x.jsonl", Path("C:/x.jsonl")),
        ("s3:x", Path("s3:x")),
    ],
)
def test_a_name_is_a_path_or_a_url(name: str, found: Path | Url) -> None:
    assert locate(name) == found


@pytest.mark.parametrize(
    ("name", "because"),
    [
        ("s3://", "names no bucket"),
        ("s3:///x", "names no bucket"),
        ("s3://b//x", "an empty name"),
        ("s3://b/../c/x", "an empty name, . or .."),
        ("s3://b/./x", "an empty name, . or .."),
        ("simplecache::s3://b/x", "one URL inside another"),
        ("zip://a.jsonl::s3://b/x.zip", "one URL inside another"),
        ("file://host/x", "file:///PATH"),
        ("file:x//", None),
    ],
)
def test_what_could_be_misread_is_refused(name: str, because: str | None) -> None:
    if because is None:
        assert isinstance(locate(name), Path)
        return
    with pytest.raises(UsageError, match=because.replace(".", r"\.")):
        locate(name)


@pytest.mark.parametrize(
    "name", ["s3://KEYID:hunter22@b/x", "sftp://me:hunter22@host/x", "gs://hunter22@b/x"]
)
def test_a_password_in_a_url_is_refused_and_not_repeated(name: str) -> None:
    with pytest.raises(UsageError, match="do not belong in a URL") as raised:
        locate(name)
    assert "hunter22" not in str(raised.value)
    assert "...@" in str(raised.value)


def test_a_signature_is_kept_and_never_shown() -> None:
    url = locate(SIGNED)
    assert str(url) == "https://host.example/b/x.jsonl?X-Amz-Expires=...&X-Amz-Signature=..."
    assert "f00dcafe" not in f"{url} {url!r}"
    sent = pickle.loads(pickle.dumps(url))  # noqa: S301 - our own
    assert isinstance(sent, Url)
    assert sent.query.endswith("f00dcafe")


def test_what_a_library_says_is_scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    url = locate(SIGNED)
    assert isinstance(url, Url)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "abcdefgh12345")
    said = f"bad answer for {SIGNED} and ftp://me:pw@host/ with token=t0ps3cret of abcdefgh12345"
    with pytest.raises(CorpusError) as raised, telling(url):
        raise RuntimeError(said)
    message = str(raised.value)
    assert "the store failed (RuntimeError: bad answer" in message
    for secret in ("f00dcafe", "me:pw", "t0ps3cret", "abcdefgh12345"):
        assert secret not in message
    assert raised.value.__cause__ is None  # its own text would spell the signature


def test_a_url_that_became_a_path_is_refused() -> None:
    with pytest.raises(UsageError, match="pass a URL as text"):
        locate(Path("s3://b/x"))
    with pytest.raises(UsageError, match="the manifest is kept on this machine"):
        local_path(Path("s3://b/m.gz"), "the manifest")
    with pytest.raises(UsageError, match=r"s3://b/m\.gz: the manifest is kept on this machine"):
        local_path("s3://b/m.gz", "the manifest")


@pytest.mark.parametrize("name", ["https://host/x.jsonl", "s3://b/*.jsonl", "s3://b"])
def test_what_cannot_be_an_output_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        locate_output(name)


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("s3://b/a/x.jsonl", "s3://b/a/x.jsonl"),
        ("S3://b/a", "s3://b/a/"),
        ("s3a://b/a", "s3n://b/a"),
        ("gcs://b/a", "gs://b/a"),
        ("s3://b/a%20b", "s3://b/a b"),
        ("s3://b/a/x", "s3://b/a"),
        ("s3://b/a", "s3://b/a/x.jsonl"),
        ("s3://b/A", "s3://b/.A.partial/x"),
        ("hf://datasets/u/r@main/x", "hf://datasets/u/r/x"),
        ("file:///t/x", "/t/x"),
        ("/t/x", "file:///t/../t/x"),
    ],
)
def test_an_output_is_kept_apart_however_it_is_spelled(output: str, source: str) -> None:
    with pytest.raises(UsageError, match="could be lost"):
        keep_apart({"--output": locate(output)}, {"INPUT": source})


def test_places_that_only_look_alike_are_apart() -> None:
    keep_apart({"--output": "s3://b/a"}, {"INPUT": ["s3://b/ab", "gs://b/a", "s3://c/a", "b/a"]})


def test_a_relative_path_meets_the_url_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="is the same as"):
        keep_apart({"--output": "x.jsonl"}, {"INPUT": f"file://{tmp_path}/x.jsonl"})


def test_the_parts_of_a_run_have_one_place_for_each_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    places = [local_place(locate(name)) for name in ("s3://b/a/m", "s3a://b/a/m", "s3://b/c/m")]
    assert places[0] == places[1] != places[2]
    assert places[0].parent == tmp_path / "puzzlemark" / "outputs"
    assert local_place(Path("/t/m")) == Path("/t/m")


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec

    def missing(*_: object, **__: object) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    with pytest.raises(UsageError, match=r"pip install 'puzzlemark\[s3\]'"):
        Url("s3", "b/x").exists()


def test_an_unknown_kind_of_store_is_named() -> None:
    with pytest.raises(CorpusError, match="nowhere://b/x: no kind of store has this name"):
        Url("nowhere", "b/x").exists()


@pytest.mark.parametrize("command", ["show", "revert", "probe", "embed", "score", "detect"])
def test_no_command_repeats_the_signature_of_an_address(command: str, tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    signed = "http://127.0.0.1:9/x.jsonl?X-Amz-Signature=f00dcafe"
    options = {"show": [], "detect": ["-m", "concat"]}.get(command, [])
    output = [] if command == "show" else ["-o", str(tmp_path / "o.parquet")]
    done = CliRunner().invoke(application(), [command, signed, *output, *options])
    assert done.exit_code in (1, 2), done.output
    assert isinstance(done.exception, SystemExit)
    assert "127.0.0.1:9/x.jsonl?X-Amz-Signature=..." in done.output.replace("\n", "")
    assert "f00dcafe" not in done.output
