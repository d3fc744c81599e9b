"""The paper's setting, for a GPU: every parameter, 10 epochs, rate 1e-4 (paper, section 5.1)."""

from puzzlemark.training.recipes.base import Recipe

# The paper names epochs and rate; the rest is ours and fits a 1-3B model on one 80 GB card.
PLUGIN = Recipe(
    part="all",
    epochs=10,
    rate=1e-4,
    batch=8,
    accumulate=4,
    warmup=100,
    max_tokens=512,
    gradient_checkpointing=True,
)
