"""Complexity features of a snippet (paper, section 4.2.1)."""
