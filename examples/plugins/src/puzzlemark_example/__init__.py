"""One plug-in of each kind for PuzzleMark; each file is explained in docs/extend."""
