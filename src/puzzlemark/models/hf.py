"""A local Hugging Face model (`transformers`), with or without a LoRA adapter (`peft`)."""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from puzzlemark.models import _fim, _scoring
from puzzlemark.models._sampling import Row, Sampler, cut, drop_space, take_space
from puzzlemark.models._weights import (
    digest,
    find_folder,
    find_spaced_tokens,
    load,
    loading,
    name_of,
)
from puzzlemark.models.base import (
    Answer,
    ChoiceRequest,
    Failure,
    LogProbs,
    ModelError,
    ModelSettings,
    Request,
)

WINDOW = 4  # batches that are sorted by length together, so that less padding is computed


class Loading(ModelSettings):
    """Which weights, and where they are computed: what a model and an encoder both need."""

    pretrained: str
    peft: str | None = None
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    batch_size: Annotated[int, Field(ge=1)] = 16
    threads: Annotated[int, Field(ge=1)] | None = None
    download: bool = False


class HuggingFaceSettings(Loading):
    """`--model hf --model-args pretrained=FOLDER,peft=ADAPTER`."""

    prompt: Literal["plain", "fim"] = "plain"  # fim: fill in the middle, as its family was trained

    def open(self) -> "HuggingFace":
        """Load the model; no file is fetched from the network unless `download=true`."""
        prepare_torch(self.threads)
        folder = find_folder(self.pretrained, self.download)
        adapter = find_folder(self.peft, self.download) if self.peft else None
        device, dtype = settle_place(self)
        with loading(f"hf: {self.pretrained}"):
            network, tokenizer, end_ids = load(folder, adapter, dtype)
        about = {"device": device, "dtype": dtype, **identify(self, folder, adapter)}
        family = None
        if self.prompt == "fim":
            with loading(f"hf: {self.pretrained}"):
                family = _fim.find_family(tokenizer)
            about["prompt"] = f"fim: {family.name}"
            end_ids |= _fim.end_ids(tokenizer)
        return HuggingFace(
            name=" + ".join(filter(None, (about["pretrained"], about["peft"]))),
            about=about,
            rows=self.batch_size,
            network=network.to(device),
            tokenizer=tokenizer,
            begins_with_space=find_spaced_tokens(network, tokenizer),
            end_ids=end_ids,
            family=family,
        )


@dataclass(slots=True)
class HuggingFace:
    """A model in this process."""

    name: str
    about: dict[str, Any]
    rows: int  # in one batch
    network: Any
    tokenizer: Any
    begins_with_space: Any
    end_ids: frozenset[int]
    family: _fim.Family | None = None  # of models that fill in the middle, when they are asked so
    vocabulary: _scoring.Vocabulary | None = None  # read when it is first needed

    @property
    def batch_size(self) -> int:
        """Several batches, which are sorted by length first."""
        return self.rows * WINDOW

    def describe(self) -> dict[str, Any]:
        """The weights by their digest, and with what they are computed."""
        return dict(self.about)

    def complete(self, requests: Sequence[Request]) -> list[Answer]:
        """Sample in batches; a prompt that does not fit is a failure and is never cut silently."""
        answers = dict(chain.from_iterable(self.stream(requests)))
        return [answers[index] for index in range(len(requests))]

    def stream(self, requests: Sequence[Request]) -> Iterator[list[tuple[int, Answer]]]:
        """The shortest prompts first, so that little padding is computed; a batch at a time.

        Samples of one prompt come together, wherever they stand among the requests. What is left of
        a run that was stopped is an end of this order, and so makes the same batches.
        """
        failures: list[tuple[int, Answer]] = []
        fitting: list[tuple[int, Row]] = []
        for index, request in enumerate(requests):
            row = self._row(request)
            if isinstance(row, Failure):
                failures.append((index, row))
            else:
                fitting.append((index, row))
        if failures:
            yield failures
        fitting.sort(key=lambda pair: (len(pair[1].ids), pair[1].ids))
        for start in range(0, len(fitting), self.rows):
            batch = fitting[start : start + self.rows]
            self._sample([row for _, row in batch])
            yield [(index, self._answer(row)) for index, row in batch]

    def score(self, requests: Sequence[ChoiceRequest]) -> list[LogProbs | Failure]:
        """The log-probabilities of names, one prompt after the other."""
        if self.vocabulary is None:
            self.vocabulary = _scoring.read_vocabulary(self.network, self.tokenizer, self.end_ids)
        return [self._score(request, self.vocabulary) for request in requests]

    def _score(self, request: ChoiceRequest, vocabulary: _scoring.Vocabulary) -> LogProbs | Failure:
        prompt, dropped = drop_space(request.prompt)
        ids = self._ids(prompt)
        spaced = " " if dropped else ""
        names: list[list[int]] = []
        for name in request.names:
            own = _scoring.continue_with(ids, self._ids(prompt + spaced + name))
            own = own or vocabulary.spell(spaced + name)
            if own is None:
                return Failure(f"the tokenizer cannot spell {name!r} after the prompt")
            names.append(own)
        if failure := self._why_not(ids, max(map(len, names))):
            return failure
        first = self.begins_with_space if dropped else None
        return LogProbs(_scoring.log_probs(self.network, ids, names, vocabulary.ends, first))

    def _row(self, request: Request) -> Row | Failure:
        prompt, dropped = drop_space(request.prompt)
        ids = self._ids(prompt)
        return self._why_not(ids, request.max_tokens) or Row(request, ids, dropped)

    def _ids(self, prompt: str) -> list[int]:
        if self.family is not None:
            return self._gap_ids(prompt, self.family)
        ids = list(self.tokenizer(prompt)["input_ids"])
        while len(ids) > 1 and ids[-1] in self.end_ids:  # an end-of-text would end the code
            ids.pop()
        return ids

    def _gap_ids(self, before: str, family: _fim.Family) -> list[int]:
        """The prompt as a text with a gap, after what the tokenizer begins every text with."""

        def encode(text: str) -> list[int]:
            return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

        opening = [each for each in self.tokenizer("")["input_ids"] if each not in self.end_ids]
        return [*opening, *_fim.arrange(family, self.tokenizer, encode, before)]

    def _why_not(self, ids: Sequence[int], new: int) -> Failure | None:
        """Why a prompt cannot be asked with so many new tokens."""
        if not ids:
            return Failure("the prompt has no tokens")
        longest = getattr(self.network.config, "max_position_embeddings", None)
        if longest and len(ids) + new > longest:
            return Failure(f"{len(ids)} + {new} tokens; the model takes {longest}")
        return None

    def _sample(self, rows: Sequence[Row]) -> None:
        Sampler(self.network, self.begins_with_space, self.end_ids, self._text).write(rows)

    def _text(self, row: Row) -> str:
        """The new text. Some tokenizers drop a space at the start of a text: so decode it whole."""
        plain = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
        before = self.tokenizer.decode(row.ids, **plain)
        text: str = self.tokenizer.decode(row.ids + row.new, **plain)
        return take_space(text[len(before) :], row.dropped_space)

    def _answer(self, row: Row) -> str:
        return cut(self._text(row), row.request.stop)


def prepare_torch(threads: int | None) -> None:
    """Import torch with threads that do not fight over cores; say what is missing."""
    if "torch" not in sys.modules:
        # threads that wait by spinning starve each other when cores are shared
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        import torch
        import transformers  # noqa: F401
    except ImportError as exc:
        raise ModelError(
            f"hf: {exc.name} is not installed; see docs/verification/models.md"
        ) from exc
    if threads is not None:
        torch.set_num_threads(threads)


def settle_place(settings: Loading) -> tuple[str, str]:
    """Device and dtype, with `auto` settled."""
    import torch

    device, dtype = settings.device, settings.dtype
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if dtype == "auto":  # float32 where it is affordable: rounding then hardly ever decides a token
        serves = device == "cuda" and torch.cuda.is_bf16_supported()
        dtype = "bfloat16" if serves else "float32"
    return device, dtype


def identify(settings: Loading, folder: Path, adapter: Path | None) -> dict[str, Any]:
    """The weights by their digest, and with what they are computed."""
    import torch
    import transformers

    return {
        "kind": "hf",
        "pretrained": name_of(settings.pretrained),
        "sha256": digest(folder),
        "peft": name_of(settings.peft) if settings.peft else None,
        "peft_sha256": digest(adapter) if adapter else None,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


PLUGIN = HuggingFaceSettings
