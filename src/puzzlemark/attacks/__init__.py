"""What is done to a dataset to be rid of its marks. Never imports the owner's side."""

from puzzlemark.plugins import Shape

SHAPE = Shape("an attack", "class", "Attack")
