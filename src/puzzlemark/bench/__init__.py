"""The paper's evaluation as commands; owner and attacker meet here, and nowhere else."""
