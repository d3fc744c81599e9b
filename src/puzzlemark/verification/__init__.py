"""Was a model trained on the marked data? Probes, counts, exact tests and a verdict."""
