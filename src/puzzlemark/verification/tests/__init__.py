"""Statistical tests of a verification: one file each, from outcomes to findings."""

from puzzlemark.plugins import Shape

SHAPE = Shape("a statistical test", "class", "StatisticalTest")
