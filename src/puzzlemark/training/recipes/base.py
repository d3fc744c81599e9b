"""What a recipe is: the whole configuration of a training."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from puzzlemark import plugins
from puzzlemark.errors import UsageError

PACKAGE = "training.recipes"
Part = Literal["all", "top", "lora"]
Schedule = Literal["linear", "constant"]
Batching = Literal["bucketed", "packed"]
Longer = Literal["cut", "skip"]
Dtype = Literal["auto", "float32", "bfloat16"]
Device = Literal["auto", "cpu", "cuda", "mps"]
Frozen = Literal["each_step", "once"]
Vocabulary = Literal["all", "corpus", "sampled"]

# fields that have an effect beside some values of another one only
ONLY_WITH: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(("layers", "frozen"), ("part", ("top",))),
    **dict.fromkeys(("rank", "alpha", "dropout", "targets"), ("part", ("lora",))),
    "longer": ("batching", ("bucketed",)),
    "threads": ("device", ("cpu", "auto")),
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train; `steps`, where given, decide over `epochs`."""

    part: Part = "all"  # what is trained; the rest stays frozen
    layers: int = 10  # for "top": how many of the last layers
    rank: int = 16  # for "lora", like the next three
    alpha: float = 32.0
    dropout: float = 0.0
    targets: tuple[str, ...] = ()  # names of modules; none means every linear one
    epochs: float | None = 1.0
    steps: int | None = None
    batch: int = 8  # rows
    accumulate: int = 1  # batches in one step
    rate: float = 1e-4
    schedule: Schedule = "linear"  # down to nothing; or constant
    warmup: int = 0  # steps
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = 0.0
    clip: float = 1.0  # longest gradient; 0 clips nothing
    max_tokens: int = 512  # in a row
    longer: Longer = "cut"  # what happens to longer snippets in bucketed batches
    batching: Batching = "bucketed"
    dtype: Dtype = "auto"  # of the arithmetic; weights are float32
    device: Device = "auto"
    threads: int | None = None
    checkpoint_every: int | None = None  # steps; by default a twentieth of them
    gradient_checkpointing: bool = False  # less memory, a third slower
    frozen: Frozen = "each_step"  # for "top": when a row goes through the layers below
    # pieces in the softmax: all, those of the corpus, or these and a draw of the others
    vocabulary: Vocabulary = "all"

    def __post_init__(self) -> None:
        for name in ("layers", "rank", "alpha", "batch", "accumulate", "rate"):
            _refuse(name, getattr(self, name), getattr(self, name) > 0, "above 0")
        for name in ("epochs", "steps", "threads", "checkpoint_every"):
            value = getattr(self, name)
            _refuse(name, value, value is None or value > 0, "above 0")
        for name in ("warmup", "weight_decay", "clip"):
            _refuse(name, getattr(self, name), getattr(self, name) >= 0, "0 or more")
        _refuse("max_tokens", self.max_tokens, self.max_tokens > 1, "2 or more")
        _refuse("dropout", self.dropout, 0 <= self.dropout < 1, "from 0 to below 1")
        _refuse("betas", self.betas, all(0 <= beta < 1 for beta in self.betas), "from 0 to below 1")
        if self.epochs is None and self.steps is None:
            raise UsageError("a recipe without epochs and steps has no end; give one of them")
        if self.frozen == "once" and (self.part, self.batching) != ("top", "bucketed"):
            raise UsageError(
                "--frozen once needs --part top and --batching bucketed: layers that stay, and "
                "rows that come again; pass --frozen each_step with others"
            )


def load_recipe(spec: str) -> Recipe:
    """A recipe by its file's name, with changes: `load_recipe("cpu:layers=4").layers -> 4`."""
    name, changes = plugins.parse_spec(spec)
    recipe = plugins.find(PACKAGE, name)
    assert isinstance(recipe, Recipe)
    return override(recipe, plugins.typed(name, Recipe, changes)) if changes else recipe


def override(recipe: Recipe, changes: Mapping[str, Any]) -> Recipe:
    """The recipe with some fields replaced; new epochs take the place of its steps."""
    known = [field.name for field in fields(Recipe)]
    if unknown := sorted(set(changes) - set(known)):
        raise UsageError(f"a recipe has no {', '.join(unknown)}; it has {', '.join(known)}")
    if changes.get("epochs") is not None and changes.get("steps") is not None:
        raise UsageError("pass either epochs or steps: each says when the training ends")
    ends = {name: None for name in ("epochs", "steps") if {"epochs", "steps"} & set(changes)}
    own = asdict(recipe)
    # JSON knows no tuples: a list with the same items is no change
    given = {n: tuple(v) if isinstance(v, list) else v for n, v in changes.items()}
    new = {name: value for name, value in given.items() if value != own[name]}
    _refuse_ignored({**own, **changes}, new)
    try:
        # checked as a user's input: a recipe from Python or JSON may hold anything
        return TypeAdapter(Recipe).validate_python({**asdict(recipe), **ends, **changes})
    except ValidationError as exc:
        first = exc.errors()[0]
        name = _option(str(first["loc"][0]))
        raise UsageError(f"{name} {first['input']!r}: {first['msg']}") from exc


def _refuse_ignored(recipe: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
    """Refuse fields that were set but have no effect beside the others."""
    for name in changes:
        where, values = ONLY_WITH.get(name, (name, (recipe[name],)))
        if recipe[where] not in values:
            needed = " or ".join(f"{_option(where)} {value}" for value in values)
            raise UsageError(
                f"{_option(name)} has no effect with {_option(where)} {recipe[where]}; "
                f"leave it out, or pass {needed}"
            )


def _refuse(name: str, value: object, fits: bool, wanted: str) -> None:
    if not fits:
        raise UsageError(f"{_option(name)} {value}: must be {wanted}")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
