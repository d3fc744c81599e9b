"""Exact tests and intervals: whole numbers in, probabilities out."""
