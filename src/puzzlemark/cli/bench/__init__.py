"""The paper's evaluation, one command for each of its questions."""
