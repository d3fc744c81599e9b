"""Scopes: one file per language, found by the language's name. No file: the language is refused."""
