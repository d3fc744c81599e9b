"""A repository whose own files carry marks: put in, kept up with new commits, taken out again."""
