"""Dataset formats: one file per format, found by its name; `base` says what each offers."""
