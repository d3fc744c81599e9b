"""Datasets in, the same datasets out: one file per format in `formats/`; start at `base`."""
