import functools
import json
import random
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from puzzlemark.errors import UsageError
from puzzlemark.models._weights import adapting
from puzzlemark.models.base import Failure, ModelError, Request, open_model
from puzzlemark.models.hf import HuggingFace
from tests.servers.completions import load

PROMPTS = [
    "def merge(left, right):\n    result =",
    "for key",
    "x",
    "while left and right:\n    source = left if left[0] <= right[0] else right\n    result.",
    "print(f",
    "é = 1\nreturn",
    "import os\n\n\ndef walk(folder",
]


def open_tiny(folder: Path, **args: str) -> HuggingFace:
    model = open_model("hf", {"pretrained": str(folder), "device": "cpu", "threads": "1", **args})
    assert isinstance(model, HuggingFace)
    return model


def greedy(prompts: list[str], max_tokens: int = 12) -> list[Request]:
    return [Request(prompt, max_tokens, 0.0, 0) for prompt in prompts]


def test_greedy_completions_are_those_of_the_library_one_by_one(tiny_model: Path) -> None:
    oracle = load(tiny_model)
    body = {"temperature": 0, "seed": 0, "max_tokens": 12}
    answers = open_tiny(tiny_model).complete(greedy(PROMPTS))
    assert answers == [oracle(prompt, body) for prompt in PROMPTS]
    assert len(set(answers)) > 3


@pytest.mark.parametrize("temperature", [0.0, 0.2, 1.0])
def test_a_request_has_the_same_completion_in_any_batch(
    tiny_model: Path, temperature: float
) -> None:
    requests = [
        Request(prompt, 5 + seed, temperature, seed) for seed in range(3) for prompt in PROMPTS
    ]
    expected = open_tiny(tiny_model, batch_size="1").complete(requests)
    for batch_size in (2, 5, 32):
        model = open_tiny(tiny_model, batch_size=str(batch_size))
        assert model.complete(requests) == expected
        assert model.complete(requests[::-1]) == expected[::-1]
        assert model.complete(requests[4:5]) == expected[4:5]


SAMPLED = ("for key", "for key ", "def f(a, b):\n    ", "x = [1, 2, 3]\nfor ")


def samples_of(prompts: Sequence[str], number: int) -> list[Request]:
    asked = [Request(prompt, 5, 0.7, seed) for seed in range(number) for prompt in prompts]
    random.Random(0).shuffle(asked)
    return asked


def test_samples_are_the_same_together_and_alone(tiny_model: Path) -> None:
    """Two prompts have the same tokens, as one of them loses its space: they are still two."""
    requests = samples_of(SAMPLED, 9)
    alone = open_tiny(tiny_model, batch_size="1")
    expected = [alone.complete([request])[0] for request in requests]
    assert open_tiny(tiny_model, batch_size="16").complete(requests) == expected
    assert len(set(expected)) > 20


def test_a_prompt_is_read_once_for_all_its_samples(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = open_tiny(tiny_model, batch_size="12")
    read: list[tuple[int, ...]] = []
    plain = model.network.forward

    @functools.wraps(plain)
    def counting(**fields: Any) -> Any:
        read.append(tuple(fields["input_ids"].shape))
        return plain(**fields)

    monkeypatch.setattr(model.network, "forward", counting)
    requests = samples_of(SAMPLED[2:], 12)
    model.complete(requests)
    prompts = [shape for shape in read if shape[1] > 1]
    assert [rows for rows, _ in prompts] == [1, 1]  # wherever their samples stood
    tokens = sum(rows for rows, width in read if width == 1)
    assert tokens < 4 * len(requests)  # the last is not read, and some begin alike


@pytest.mark.parametrize("missing", ["memory", "plain memory", "positions"])
def test_another_kind_of_network_gives_the_same_samples(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    model = open_tiny(tiny_model)
    # without positions a padded row would stand elsewhere, so prompts have one length
    requests = samples_of(SAMPLED[:2] if missing == "positions" else SAMPLED, 5)
    expected = model.complete(requests)
    plain = model.network.forward
    seen: list[set[str]] = []

    def forgetful(input_ids: Any, attention_mask: Any, use_cache: bool, **more: Any) -> Any:
        seen.append(set(more))
        found = plain(input_ids=input_ids, attention_mask=attention_mask, **more)
        return SimpleNamespace(logits=found.logits)

    def stateful(input_ids: Any, attention_mask: Any, use_cache: bool, **more: Any) -> Any:
        """Its layers keep more than keys and values, and choosing would miss that."""
        seen.append(set(more))
        found = plain(input_ids=input_ids, attention_mask=attention_mask, use_cache=True, **more)
        for layer in found.past_key_values.layers:
            layer.__class__ = type("StateAndDynamicLayer", (type(layer),), {})
        return found

    def placeless(input_ids: Any, attention_mask: Any, use_cache: bool, **more: Any) -> Any:
        seen.append(set(more))
        return plain(input_ids=input_ids, attention_mask=attention_mask, use_cache=True, **more)

    others = {"memory": forgetful, "plain memory": stateful, "positions": placeless}
    monkeypatch.setattr(model.network, "forward", others[missing])
    assert model.complete(requests) == expected
    assert set().union(*seen) <= {"past_key_values"}
    assert ("past_key_values" in set().union(*seen)) == (missing == "positions")


def test_another_seed_gives_another_completion_and_the_same_seed_the_same(
    tiny_model: Path,
) -> None:
    model = open_tiny(tiny_model)
    requests = [Request("x", 12, 1.0, seed) for seed in range(10)]
    assert len(set(model.complete(requests))) == 10
    assert model.complete(requests) == model.complete(requests)


@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_tokens_are_drawn_with_the_probabilities_of_the_model(
    tiny_model: Path, temperature: float
) -> None:
    import torch
    from scipy.stats import chisquare

    model = open_tiny(tiny_model, batch_size="100")
    ids = torch.tensor([model.tokenizer("for key")["input_ids"]])
    with torch.inference_mode():
        logits = model.network(ids).logits[0, -1].double()
    chances = torch.softmax(logits / temperature, -1).tolist()
    rows = [model._row(Request("for key", 1, temperature, seed)) for seed in range(2000)]
    assert not any(isinstance(row, Failure) for row in rows)
    for start in range(0, 2000, 100):
        model._sample(rows[start : start + 100])  # type: ignore[arg-type]
    drawn = [row.new[0] if row.new else model.tokenizer.eos_token_id for row in rows]  # type: ignore[union-attr]
    likely = [token for token, chance in enumerate(chances) if chance * 2000 >= 5]
    observed = [drawn.count(token) for token in likely]
    expected = [chances[token] * 2000 for token in likely]
    assert len(likely) > 5
    observed.append(2000 - sum(observed))
    expected.append(2000 - sum(expected))
    assert chisquare(observed, expected).pvalue > 0.001


def test_a_trailing_space_becomes_the_first_of_the_next_token(tiny_model: Path) -> None:
    import torch

    model = open_tiny(tiny_model)
    (answer,) = model.complete(greedy(["result = "], 1))
    ids = torch.tensor([model.tokenizer("result =")["input_ids"]])
    with torch.inference_mode():
        logits = model.network(ids).logits[0, -1].tolist()
    texts = [model.tokenizer.decode([token]) for token in range(len(model.tokenizer))]
    spaced = [token for token, text in enumerate(texts) if text.startswith(" ")]
    assert len(spaced) > 10
    best = max(spaced, key=lambda token: logits[token])
    assert answer == texts[best][1:]
    assert max(logits) > logits[best]  # else nothing was shown


def test_a_completion_ends_before_the_first_stop_string(tiny_model: Path) -> None:
    model = open_tiny(tiny_model)
    (whole,) = model.complete(greedy(["x"], 30))
    assert isinstance(whole, str)
    first, second = whole[10:12], whole[5:7]
    cut = min(whole.index(first), whole.index(second))
    assert model.complete([Request("x", 30, 0.0, 0, (first, second))]) == [whole[:cut]]
    assert model.complete([Request("x", 30, 0.0, 0, ("not there",))]) == [whole]


def test_a_completion_ends_at_the_end_of_text_while_its_neighbours_go_on(
    tiny_model: Path,
) -> None:
    model = open_tiny(tiny_model)
    row = model._row(greedy(["x"])[0])
    assert not isinstance(row, Failure)
    model._sample([row])
    end = next(token for token in row.new[2:] if token not in row.new[:2])
    before = model.tokenizer.decode(row.new[: row.new.index(end)])
    ending = replace(model, end_ids=frozenset({end}))
    answers = ending.complete(greedy(PROMPTS))
    assert answers[PROMPTS.index("x")] == before
    whole = model.complete(greedy(PROMPTS))
    assert all(str(a) == str(w)[: len(str(a))] for a, w in zip(answers, whole, strict=True))
    assert any(answer == w for answer, w in zip(answers, whole, strict=True))


def test_a_prompt_that_does_not_fit_is_a_failure_and_not_cut(tiny_model: Path) -> None:
    model = open_tiny(tiny_model)
    long = "x = 1\n" * 100
    first, second, third = model.complete(greedy(["x", long, "x"]))
    assert isinstance(second, Failure)
    assert "the model takes 128" in second.reason
    assert first == third == model.complete(greedy(["x"]))[0]
    assert model.complete(greedy([""])) == [Failure("the prompt has no tokens")]


def test_sampling_settings_that_come_with_a_model_do_not_count(
    tiny_model: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "biased"
    shutil.copytree(tiny_model, folder)
    path = folder / "generation_config.json"
    settings = json.loads(path.read_text())
    settings |= {"do_sample": True, "top_k": 1, "repetition_penalty": 9.0, "max_new_tokens": 2}
    path.write_text(json.dumps(settings))
    requests = [Request("x", 12, 1.0, seed) for seed in range(5)]
    assert open_tiny(folder).complete(requests) == open_tiny(tiny_model).complete(requests)


def test_the_record_identifies_the_weights_and_not_where_they_lie(
    tiny_model: Path, tmp_path: Path
) -> None:
    copy = tmp_path / tiny_model.name
    shutil.copytree(tiny_model, copy)
    (copy / "README.md").write_text("x")
    about = open_tiny(tiny_model).describe()
    assert open_tiny(copy, batch_size="3").describe() == about
    assert about["pretrained"] == "tiny"
    assert about["dtype"] == "float32"
    assert str(tmp_path) not in str(about)
    from tests.servers.tiny import make_model

    make_model(copy, seed=1)
    assert open_tiny(copy).describe()["sha256"] != about["sha256"]


def test_an_adapter_changes_the_completions_as_if_it_were_merged(
    tiny_model: Path, tmp_path: Path
) -> None:
    peft = pytest.importorskip("peft", reason="needs the extra hf: peft")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.manual_seed(3)
    base = AutoModelForCausalLM.from_pretrained(tiny_model)
    config = peft.LoraConfig(
        r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False, task_type="CAUSAL_LM"
    )
    with adapting():
        adapted = peft.get_peft_model(base, config)
    adapted.save_pretrained(tmp_path / "lora")
    adapted.merge_and_unload().save_pretrained(tmp_path / "merged")
    AutoTokenizer.from_pretrained(tiny_model).save_pretrained(tmp_path / "merged")

    with_adapter = open_tiny(tiny_model, peft=str(tmp_path / "lora"))
    answers = with_adapter.complete(greedy(PROMPTS))
    assert answers == open_tiny(tmp_path / "merged").complete(greedy(PROMPTS))
    assert answers != open_tiny(tiny_model).complete(greedy(PROMPTS))
    assert with_adapter.name == "tiny + lora"
    assert with_adapter.describe()["peft_sha256"]


def test_bfloat16_serves_too(tiny_model: Path) -> None:
    model = open_tiny(tiny_model, dtype="bfloat16")
    assert str(next(model.network.parameters()).dtype) == "torch.bfloat16"
    assert model.describe()["dtype"] == "bfloat16"
    assert all(isinstance(answer, str) for answer in model.complete(greedy(PROMPTS)))


def test_a_model_that_is_not_here_is_not_fetched(tiny_model: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="neither a folder nor a model in the local cache"):
        open_tiny(Path("nobody/nothing"))
    with pytest.raises(ModelError, match="no such folder"):
        open_tiny(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match="cannot be loaded"):
        open_tiny(tmp_path / "empty")


def test_without_the_library_the_message_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    gone: Any = None
    monkeypatch.setitem(sys.modules, "torch", gone)
    with pytest.raises(ModelError, match="torch is not installed"):
        open_model("hf", {"pretrained": "x"})


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(UsageError, match="device: "):
        open_model("hf", {"pretrained": "x", "device": "abacus"})
    with pytest.raises(UsageError, match="no setting 'revision'"):
        open_model("hf", {"pretrained": "x", "revision": "y"})
