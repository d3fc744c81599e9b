import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from puzzlemark.models._weights import adapting
from puzzlemark.models.base import ModelError
from puzzlemark.models.encoders.base import Vectors, open_encoder
from puzzlemark.models.encoders.hf import HuggingFaceEncoder
from tests.servers.tiny import CODE

CODES = [
    "def merge(left, right):\n    result = []",
    "x",
    CODE,
    "for key, value in items:\n    print(key)",
    "é = 1\nreturn",
    "import os\n" + CODE * 5,  # longer than max_tokens
    "result = left + right",
]
CLOSE: Any = {"rtol": 1e-4, "atol": 1e-5}


def open_tiny(folder: Path, **args: str) -> HuggingFaceEncoder:
    plain = {"device": "cpu", "threads": "1", "max_tokens": "60", "batch_size": "3"}
    encoder = open_encoder("hf", {"pretrained": str(folder), **plain, **args})
    assert isinstance(encoder, HuggingFaceEncoder)
    return encoder


def states_one_by_one(folder: Path, codes: list[str], max_tokens: int = 60) -> list[list[Any]]:
    """The library's own hidden states of each code alone: layers x tokens x width."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    found = []
    for code in codes:
        ids = tokenizer(code, return_tensors="pt")["input_ids"][:, :max_tokens]
        with torch.inference_mode():
            output = model(ids, output_hidden_states=True)
        found.append([layer[0].numpy() for layer in output.hidden_states])
    return found


def tokens(encoder: HuggingFaceEncoder, code: str) -> list[int]:
    assert encoder.trunk is not None
    return encoder.trunk.tokenize(code, encoder.settings.max_tokens)


@pytest.fixture(scope="session")
def gpt2(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Path:
    """A second architecture: its embedding layer adds positions."""
    import torch
    from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

    folder = tmp_path_factory.mktemp("gpt2") / "gpt2"
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    ends = {"bos_token_id": None, "eos_token_id": tokenizer.eos_token_id}
    config = GPT2Config(
        vocab_size=len(tokenizer), n_embd=16, n_layer=3, n_head=2, n_positions=64, **ends
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def test_a_vector_is_the_last_tokens_state_after_the_last_layer(tiny_model: Path) -> None:
    vectors = open_tiny(tiny_model).encode(CODES)
    expected = [layers[-1][-1] for layers in states_one_by_one(tiny_model, CODES)]
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected, **CLOSE)
    assert len(np.unique(vectors.round(3), axis=0)) == len(CODES)


def test_the_last_layer_is_taken_after_the_final_norm(tiny_model: Path) -> None:
    import torch

    encoder = open_tiny(tiny_model)
    vectors = encoder.encode(CODES)
    assert encoder.trunk is not None
    norm = encoder.trunk.network.norm
    blocks = encoder.trunk.network.layers
    seen: list[Any] = []
    hook = blocks[-1].register_forward_hook(lambda *call: seen.append(call[-1]))
    encoder.encode(CODES[:1])
    hook.remove()
    before = seen[0][0] if isinstance(seen[0], tuple) else seen[0]
    with torch.inference_mode():
        after = norm(before).reshape(-1, 32)[-1].numpy()
    np.testing.assert_allclose(vectors[0], after, **CLOSE)


def test_mean_pooling_leaves_the_padding_out(tiny_model: Path) -> None:
    vectors = open_tiny(tiny_model, pooling="mean", batch_size="7").encode(CODES)
    expected = [layers[-1].mean(0) for layers in states_one_by_one(tiny_model, CODES)]
    np.testing.assert_allclose(vectors, expected, **CLOSE)


@pytest.mark.parametrize("pooling", ["last", "mean"])
def test_a_code_has_the_same_vector_in_any_batch_and_order(tiny_model: Path, pooling: str) -> None:
    expected = open_tiny(tiny_model, pooling=pooling, batch_size="1").encode(CODES)
    for batch_size in ("2", "5", "32"):
        encoder = open_tiny(tiny_model, pooling=pooling, batch_size=batch_size)
        np.testing.assert_allclose(encoder.encode(CODES), expected, **CLOSE)
        np.testing.assert_allclose(encoder.encode(CODES[::-1]), expected[::-1], **CLOSE)
        np.testing.assert_allclose(encoder.encode(CODES[4:5]), expected[4:5], **CLOSE)


def test_layer_zero_is_the_embedding_of_the_last_token(tiny_model: Path) -> None:
    encoder = open_tiny(tiny_model, layer="0")
    vectors = encoder.encode(CODES)
    assert encoder.trunk is not None
    table = encoder.trunk.network.get_input_embeddings().weight.detach().numpy()
    expected = [table[tokens(encoder, code)[-1]] for code in CODES]
    np.testing.assert_array_equal(vectors, np.stack(expected))
    # nothing but the last token counts there
    same = encoder.encode(["left(right)", "result(items)"])
    np.testing.assert_array_equal(same[0], same[1])


def test_layer_zero_of_gpt2_is_token_and_position(gpt2: Path) -> None:
    encoder = open_tiny(gpt2, layer="0")
    vectors = encoder.encode(CODES)
    assert encoder.trunk is not None
    network = encoder.trunk.network
    ids = [tokens(encoder, code) for code in CODES]
    words, places = network.wte.weight.detach().numpy(), network.wpe.weight.detach().numpy()
    expected = [words[each[-1]] + places[len(each) - 1] for each in ids]
    np.testing.assert_allclose(vectors, expected, **CLOSE)


@pytest.mark.parametrize("name", ["tiny_model", "gpt2"])
def test_every_layer_is_the_librarys_own(name: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(name)
    expected = states_one_by_one(folder, CODES)
    layers = len(expected[0])
    assert layers == {"tiny_model": 3, "gpt2": 4}[name]
    found: list[Vectors] = []
    for layer in range(layers):
        found.append(open_tiny(folder, layer=str(layer)).encode(CODES))
        np.testing.assert_allclose(found[-1], [states[layer][-1] for states in expected], **CLOSE)
    assert not np.allclose(found[0], found[1])
    np.testing.assert_array_equal(found[-1], open_tiny(folder).encode(CODES))


def test_layers_above_the_chosen_one_are_not_computed(tiny_model: Path) -> None:
    encoder = open_tiny(tiny_model, layer="1")
    encoder.encode(["x"])
    assert encoder.trunk is not None
    computed: list[int] = []
    for number, block in enumerate(encoder.trunk.network.layers):
        block.register_forward_hook(lambda *_, number=number: computed.append(number))
    encoder.encode(["x"])
    assert computed == [0]


def test_only_the_first_tokens_count(tiny_model: Path) -> None:
    encoder = open_tiny(tiny_model, max_tokens="10")
    first, other, short = encoder.encode([CODE, CODE + "\nreturn None", "def"])
    np.testing.assert_allclose(first, other, **CLOSE)
    assert not np.allclose(first, short, **CLOSE)
    assert len(tokens(encoder, CODE)) == 10


def test_an_end_of_text_that_a_tokenizer_appends_is_not_the_last_token(tiny_model: Path) -> None:
    encoder = open_tiny(tiny_model)
    np.testing.assert_allclose(*encoder.encode(["x = 1", "x = 1<end>"]), **CLOSE)
    # alone it stays: every code has a vector
    assert tokens(encoder, "<end>") == tokens(encoder, "") == [0]


def test_no_codes_give_no_vectors(tiny_model: Path) -> None:
    assert open_tiny(tiny_model).encode([]).shape == (0, 32)


def test_the_description_identifies_the_weights_and_not_where_they_lie(
    tiny_model: Path, tmp_path: Path
) -> None:
    copy = tmp_path / tiny_model.name
    shutil.copytree(tiny_model, copy)
    about = open_tiny(tiny_model).describe()
    assert open_tiny(copy, batch_size="9", threads="2").describe() == about
    assert about | {"layer": "last", "pooling": "last", "max_tokens": 60} == about
    assert about["dtype"] == "float32"
    assert str(tmp_path) not in str(about)
    for name, value in {"layer": "0", "pooling": "mean", "max_tokens": "9"}.items():
        assert open_tiny(tiny_model, **{name: value}).describe() != about
    from tests.servers.tiny import make_model

    make_model(copy, seed=1)
    assert open_tiny(copy).describe()["sha256"] != about["sha256"]


def test_the_weights_are_read_when_the_first_code_is_encoded(tiny_model: Path) -> None:
    encoder = open_tiny(tiny_model)
    assert encoder.trunk is None
    encoder.encode(["x"])
    assert encoder.trunk is not None


def test_an_adapter_changes_the_vectors_as_if_it_were_merged(
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

    vectors = open_tiny(tiny_model, peft=str(tmp_path / "lora")).encode(CODES)
    np.testing.assert_allclose(vectors, open_tiny(tmp_path / "merged").encode(CODES), rtol=1e-3)
    assert not np.allclose(vectors, open_tiny(tiny_model).encode(CODES), **CLOSE)


def test_bfloat16_serves_too(tiny_model: Path) -> None:
    vectors = open_tiny(tiny_model, dtype="bfloat16").encode(CODES)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()


def test_what_the_model_does_not_have_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"layers are 0 \(embeddings\) to 2"):
        open_tiny(tiny_model, layer="3").encode(["x"])
    with pytest.raises(ModelError, match="pass max_tokens=128"):
        open_tiny(tiny_model, max_tokens="256").encode(["x"])
    with pytest.raises(ModelError, match="no such folder"):
        open_tiny(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match="cannot be loaded"):
        open_tiny(tmp_path / "empty").encode(["x"])


def test_without_the_library_the_message_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    gone: Any = None
    monkeypatch.setitem(sys.modules, "torch", gone)
    with pytest.raises(ModelError, match="torch is not installed"):
        open_encoder("hf", {"pretrained": "x"})
