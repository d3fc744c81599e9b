"""Where a language keeps its classes and its documentation; one file per language."""
