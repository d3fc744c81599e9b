"""A dataset from a source tree: its functions, with the fields of CodeSearchNet."""
