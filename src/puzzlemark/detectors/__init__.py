"""Who looks for marks: corpus in, suspicion out. Never imports the owner's side."""

from puzzlemark.plugins import Shape

SHAPE = Shape("a detector", "class", "Detector")
