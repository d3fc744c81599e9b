"""Code as trees: parsing, variables by scope, safe renames. No other package slices source."""
