"""Where a pure map over batches runs; one file per engine."""
