"""Fine-tuning a causal language model on a corpus; start at `run`."""
