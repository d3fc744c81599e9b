"""A real transformers model that is made in a second: random weights, a tokenizer trained here."""

from pathlib import Path
from typing import Any

CODE = """def merge(left, right):
    result = []
    while left and right:
        source = left if left[0] <= right[0] else right
        result.append(source.pop(0))
    return result + left + right

for key, value in sorted(items.items()):
    print(f"{key} = {value}")
"""


def make_model(folder: Path, seed: int = 0, positions: int = 128) -> Any:
    """Two layers, 300 tokens; the folder is what `from_pretrained` expects."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = make_tokenizer(folder)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer) + 4,  # padded, as large models are
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=positions,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        initializer_range=0.5,  # far from uniform, so that prompts matter
    )
    model = LlamaForCausalLM(config)
    model.save_pretrained(folder)
    return model


def make_tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300, initial_alphabet=alphabet, special_tokens=["<end>"], show_progress=False
    )
    inner.train_from_iterator([CODE], trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<end>")
    tokenizer.save_pretrained(folder)
    return tokenizer
