"""Whether anything but the code tells which records of a dataset carry marks."""
