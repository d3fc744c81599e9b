"""Whole trainings of a tiny model: what changes, what does not, and what is refused."""

import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.models._weights import digest
from puzzlemark.models.base import ModelError, Request, open_model
from puzzlemark.training.checkpoints import TrainingError
from puzzlemark.training.loop import Moment
from puzzlemark.training.run import train
from tests.training.conftest import CODES, write_corpus

SMALL: dict[str, Any] = {"recipe": "cpu", "part": "all", "rate": 3e-3, "epochs": 2.0}


def weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return dict(load_file(folder / "model.safetensors"))


def changed(before: Path, after: Path) -> set[str]:
    """Names of the tensors that differ; both folders must have the same ones."""
    import torch

    old, new = weights(before), weights(after)
    assert set(old) == set(new)
    return {name for name in old if not torch.equal(old[name], new[name])}


def without_times(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((folder / "training.json").read_text())
    assert record.pop("times")["starts"] >= 1
    return record


def test_the_loss_falls_and_the_folder_is_an_ordinary_model(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    trained = train(
        corpus, tiny_model, tmp_path / "model", **SMALL | {"epochs": 12.0, "rate": 1e-2}
    )
    result = trained.record["result"]
    assert result["final_loss"] < result["first_loss"] - 2
    assert not list(tmp_path.glob("model/*.partial"))
    assert not (tmp_path / "model" / "checkpoint").exists()
    model = open_model("hf", {"pretrained": str(tmp_path / "model"), "device": "cpu"})
    (answer,) = model.complete([Request("def find_key(items):\n    result", 12, 0.0, 0)])
    assert isinstance(answer, str)
    assert " = [" in answer  # as all of the corpus goes on
    assert model.describe()["sha256"] == result["sha256"]


def test_the_record_says_what_was_done(tiny_model: Path, corpus: Path, tmp_path: Path) -> None:
    trained = train(corpus, tiny_model, tmp_path / "model", seed=5, **SMALL)
    text = (tmp_path / "model" / "training.json").read_text()
    assert json.loads(text) == trained.record
    assert str(tmp_path) not in text
    assert str(tiny_model.parent) not in text
    record = trained.record
    assert record["base"] == {"name": "tiny", "sha256": digest(tiny_model)}
    assert (record["corpus"]["records"], record["seed"]) == (24, 5)
    # two epochs of 24 documents, four at a time
    assert (record["recipe"]["steps"], record["recipe"]["epochs"]) == (12, 2.0)
    assert record["result"]["tokens"] == 2 * record["corpus"]["tokens"]
    assert record["recipe"]["device"] in ("cpu", "cuda")
    assert record["recipe"]["dtype"] != "auto"
    assert set(record["times"]) == {"seconds", "cpu_seconds", "tokens_per_second", "starts"}


def test_every_step_is_in_the_loss_file_and_in_the_picture(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    train(corpus, tiny_model, tmp_path / "model", **SMALL)
    lines = (tmp_path / "model" / "loss.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == list(range(1, 13))
    picture = ET.fromstring((tmp_path / "model" / "loss.svg").read_text())  # noqa: S314
    lines = [each.attrib["points"] for each in picture.iter("{http://www.w3.org/2000/svg}polyline")]
    assert [len(line.split()) for line in lines] == [12, 12]


def test_the_same_training_gives_the_same_weights_and_another_seed_others(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        train(corpus, tiny_model, tmp_path / name, seed=seed, **SMALL)
    assert not changed(tmp_path / "one", tmp_path / "same")
    assert without_times(tmp_path / "one") == without_times(tmp_path / "same")
    assert changed(tmp_path / "one", tmp_path / "other")


def test_training_leaves_the_caller_s_random_numbers_alone(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    import torch

    before, threads = torch.get_rng_state(), torch.get_num_threads()
    train(corpus, tiny_model, tmp_path / "model", **SMALL)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_num_threads() == threads


def test_all_changes_everything(tiny_model: Path, corpus: Path, tmp_path: Path) -> None:
    train(corpus, tiny_model, tmp_path / "model", **SMALL)
    assert changed(tiny_model, tmp_path / "model") == set(weights(tiny_model))


def test_top_changes_the_last_layers_only(tiny_model: Path, corpus: Path, tmp_path: Path) -> None:
    train(corpus, tiny_model, tmp_path / "model", **SMALL | {"part": "top", "layers": 1})
    names = {name for name in weights(tiny_model) if name.startswith("model.layers.1.")}
    assert changed(tiny_model, tmp_path / "model") == names


def test_lora_writes_an_adapter_and_touches_nothing_else(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    pytest.importorskip("peft", reason="needs the extra train: peft")
    before = digest(tiny_model)
    folder = tmp_path / "adapter"
    lora = {"part": "lora", "rank": 4, "targets": ("q_proj", "v_proj"), "rate": 2e-2}
    trained = train(corpus, tiny_model, folder, **SMALL | lora)
    assert digest(tiny_model) == before
    assert not (folder / "model.safetensors").exists()
    # 2 layers, 2 modules, A and B of 4 x 32 each
    assert trained.record["result"]["trained_parameters"] == 2 * 2 * 2 * 4 * 32
    settings = json.loads((folder / "adapter_config.json").read_text())
    assert settings["base_model_name_or_path"] == "tiny"
    requests = [Request(prompt, 8, 0.0, 0) for prompt in ("def find", "for key", "x = [")]
    places = {"pretrained": str(tiny_model), "device": "cpu"}
    adapted = open_model("hf", {**places, "peft": str(folder)})
    assert adapted.describe()["peft_sha256"] == trained.record["result"]["sha256"]
    assert adapted.complete(requests) != open_model("hf", places).complete(requests)


def test_packed_training_learns_too(tiny_model: Path, corpus: Path, tmp_path: Path) -> None:
    packed = {"batching": "packed", "max_tokens": 64, "accumulate": 2, "epochs": 8.0}
    trained = train(corpus, tiny_model, tmp_path / "model", **SMALL | packed)
    result = trained.record["result"]
    assert result["final_loss"] < result["first_loss"] - 1
    assert result["tokens"] == 8 * trained.record["corpus"]["tokens"]


def test_gradient_checkpointing_changes_memory_and_not_the_weights(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    import torch

    train(corpus, tiny_model, tmp_path / "plain", **SMALL)
    train(corpus, tiny_model, tmp_path / "less", gradient_checkpointing=True, **SMALL)
    expected, found = weights(tmp_path / "plain"), weights(tmp_path / "less")
    for name in expected:
        torch.testing.assert_close(found[name], expected[name], rtol=1e-3, atol=1e-4)


def test_bfloat16_rounds_the_arithmetic_and_keeps_the_weights_exact(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    import torch

    trained = train(
        corpus, tiny_model, tmp_path / "model", dtype="bfloat16", steps=2, recipe="cpu", part="all"
    )
    assert trained.record["recipe"]["dtype"] == "bfloat16"
    assert {each.dtype for each in weights(tmp_path / "model").values()} == {torch.float32}


def test_a_watcher_sees_every_step_and_may_sample(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    seen: list[int] = []

    def watch(moment: Moment) -> None:
        assert moment.network.training
        moment.network.eval()
        seen.append(moment.step.step)

    train(corpus, tiny_model, tmp_path / "model", watch=watch, **SMALL)
    assert seen == list(range(1, 13))


def test_a_finished_training_is_not_repeated(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    first = train(corpus, tiny_model, tmp_path / "model", **SMALL)
    seen: list[Moment] = []
    again = train(corpus, tiny_model, tmp_path / "model", watch=seen.append, **SMALL)
    assert again.was_there
    assert not seen
    assert again.record == first.record


def test_another_training_in_the_folder_is_refused_by_what_differs(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    train(corpus, tiny_model, tmp_path / "model", **SMALL)
    before = digest(tmp_path / "model")
    with pytest.raises(TrainingError, match=r"recipe\.rate is 0\.003 there and 0.01 here"):
        train(corpus, tiny_model, tmp_path / "model", **SMALL | {"rate": 1e-2})
    write_corpus(tmp_path / "other.jsonl", CODES[::-1])
    with pytest.raises(TrainingError, match=r"corpus\.digest is"):
        train(tmp_path / "other.jsonl", tiny_model, tmp_path / "model", **SMALL)
    assert digest(tmp_path / "model") == before
    train(corpus, tiny_model, tmp_path / "model", force=True, **SMALL | {"rate": 1e-2})
    assert digest(tmp_path / "model") != before


def test_nothing_that_is_not_ours_is_overwritten_even_by_force(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    for force in (False, True):
        with pytest.raises(UsageError, match="holds other files"):
            train(corpus, tiny_model, tmp_path / "notes", force=force, **SMALL)
        with pytest.raises(UsageError, match="is the same as --base"):
            train(corpus, tiny_model, tiny_model, force=force, **SMALL)
        with pytest.raises(UsageError, match="contains INPUT"):
            train(corpus, tiny_model, corpus.parent, force=force, **SMALL)
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"part": "top", "layers": 3}, "--layers 3: the model has 2"),
        ({"max_tokens": 129}, "--max-tokens 129: the model takes at most 128"),
        ({"part": "lora", "targets": ("nowhere",)}, "--targets nowhere"),
        ({"recipe": "fast"}, "known: cpu, cpu_fast, paper"),
    ],
)
def test_what_does_not_fit_the_model_is_refused_and_leaves_nothing(
    tiny_model: Path, corpus: Path, tmp_path: Path, fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        train(corpus, tiny_model, tmp_path / "model", **SMALL | fields)
    assert not (tmp_path / "model").exists()


def test_a_base_that_is_no_model_is_refused(tiny_model: Path, corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nowhere: neither a folder nor a model"):
        train(corpus, "nowhere", tmp_path / "model", **SMALL)
    shutil.copytree(tiny_model, tmp_path / "base")
    (tmp_path / "base" / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ModelError, match="cannot be loaded"):
        train(corpus, tmp_path / "base", tmp_path / "model", **SMALL)
    (tmp_path / "base" / "adapter_config.json").write_text("{}")
    with pytest.raises(ModelError, match="is an adapter"):
        train(corpus, tmp_path / "base", tmp_path / "model", **SMALL)


def test_a_model_that_was_fetched_is_found_by_its_name(
    tiny_model: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    shutil.copytree(tiny_model, tmp_path / "puzzlemark" / "models" / "fetched")
    trained = train(corpus, "fetched", tmp_path / "model", **SMALL)
    assert trained.record["base"] == {"name": "fetched", "sha256": digest(tiny_model)}


def test_an_empty_corpus_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(CorpusError, match="no records"):
        train(tmp_path / "empty.jsonl", tiny_model, tmp_path / "model", **SMALL)


def test_a_generation_config_that_cannot_be_saved_again_goes_along_as_it_is(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    shutil.copytree(tiny_model, tmp_path / "base")
    text = '{"do_sample": false, "temperature": 0.3, "top_k": 7}'
    (tmp_path / "base" / "generation_config.json").write_text(text)
    train(corpus, tmp_path / "base", tmp_path / "model", **SMALL)
    assert (tmp_path / "model" / "generation_config.json").read_text() == text
