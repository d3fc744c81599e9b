"""A small budget on one core: the top ten layers, short snippets, one epoch."""

from puzzlemark.training.recipes.base import Recipe

PLUGIN = Recipe(
    part="top",
    layers=10,
    epochs=1,
    rate=8e-4,
    batch=4,
    warmup=8,
    betas=(0.9, 0.98),
    max_tokens=128,
    # small batches scale badly: two trainings side by side use two cores better than one with both
    threads=1,
)
