"""What `bench paper --scale tiny` needs and a clean clone has not: functions, and a model.

The functions are those of Python's standard library; the model has random weights and a tokenizer
that is trained on them. It learns next to nothing: it shows that all works, and nothing else.
"""

import sysconfig
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from puzzlemark.corpora.base import open_corpus
from puzzlemark.corpora.writing import write_records
from puzzlemark.files import replacing
from puzzlemark.harvesting.run import harvest
from puzzlemark.models.base import ModelError

NOT_HARVESTED = ("site-packages", "test", "tests", "idlelib", "lib2to3", "distutils", "tkinter")
FUNCTIONS = 4000
PIECES = 2000  # of the tokenizer
END = "<end>"
LAYERS = 12  # the recipe `cpu` trains ten of them


def make_corpus(path: Path, functions: int = FUNCTIONS) -> Path:
    """Functions of the standard library, the module standing for the project."""
    if not path.exists():
        write_records(_records(functions), path)
    return path


def _records(functions: int) -> Iterator[dict[str, str]]:
    records = harvest(Path(sysconfig.get_path("stdlib")), "python", exclude=NOT_HARVESTED)
    for number, record in enumerate(islice(records, functions)):
        module = str(record["path"]).partition("/")[0]
        name, code = f"stdlib:{number}", str(record["code"])
        yield {"id": name, "repo": module, "language": "python", "code": code}


def make_project(path: Path, corpus: Path) -> Path:
    """The functions of the project that has the most of them."""
    if not path.exists():
        records = list(open_corpus(corpus).records())
        sizes = Counter(str(record.get("repo")) for record in records)
        largest = sizes.most_common(1)[0][0]
        write_records([dict(r) for r in records if str(r.get("repo")) == largest], path)
    return path


def make_model(folder: Path, corpus: Path, seed: int = 0) -> Path:
    """A folder as `from_pretrained` reads it."""
    if folder.exists():
        return folder
    try:
        import torch
        from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    except ImportError as exc:
        message = f"{exc.name} is not installed; a model needs it: pip install 'puzzlemark[train]'"
        raise ModelError(message) from exc
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=_train_pieces(corpus), eos_token=END)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        max_position_embeddings=2048,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
    )
    with replacing(folder) as place:
        place.mkdir(exist_ok=True)
        LlamaForCausalLM(config).save_pretrained(place)
        tokenizer.save_pretrained(place)
    return folder


def _train_pieces(corpus: Path) -> object:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=PIECES,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[END],
        show_progress=False,
    )
    codes = (entry.code for entry in open_corpus(corpus).entries() if entry.code)
    inner.train_from_iterator(codes, trainer)
    return inner
