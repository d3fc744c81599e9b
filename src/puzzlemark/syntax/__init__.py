"""Code as trees: parsing, variables by scope, safe renames. No other room slices source."""
