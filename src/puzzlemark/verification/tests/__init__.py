"""Statistical tests of a verification: one file each, from outcomes to findings."""
