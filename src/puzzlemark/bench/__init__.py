"""The judge's room: the paper's evaluation as commands, with both wings under one roof."""
