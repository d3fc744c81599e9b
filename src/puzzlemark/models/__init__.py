"""Suspicious models as black boxes: text in, text out; one file per way to reach one."""

from puzzlemark.plugins import Shape

SHAPE = Shape("the settings of a model", "class", "ModelPlugin", is_private=True)
